"""Triggers in the file of a flow: exported without secrets, files and owner; imported switched off."""

from collections.abc import Sequence

from pydantic import JsonValue, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.runs.ports.flows import Sealer
from headgate.features.triggers import service
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.schemas import TriggerIn, TriggerOut
from headgate.foundation.errors import HeadgateError
from headgate.graph.names import clipped

_CARRIED = ("name", "config", "policies")


class TriggerTransfer:
    """See `flows.transfer.Triggers`.

    Args:
        box: Encrypts the secrets that webhooks get.
    """

    def __init__(self, box: Sealer) -> None:
        self._box = box

    async def exported(self, session: AsyncSession, principal: Principal, flow_id: str) -> list[JsonValue]:
        """Return the triggers of a flow, the oldest first."""
        rows = await service.list_triggers(session, principal, flow_id=flow_id, limit=service.MOST_OF_FLOW)
        return [_exported(row) for row in reversed(rows)]

    async def imported(
        self, session: AsyncSession, principal: Principal, flow_id: str, triggers: Sequence[JsonValue]
    ) -> list[str]:
        """Add triggers to a new flow, owned by the caller. One that cannot be added is omitted with its reason."""
        notes: list[str] = []
        names: set[str] = set()
        for number, given in enumerate(triggers, 1):
            name = given.get("name") if isinstance(given, dict) else None
            title = f"Trigger '{clipped(name, 120)}'" if isinstance(name, str) else f"Trigger {number}"
            try:
                body = TriggerIn.model_validate(_imported(given))
                if body.name in names:
                    raise TriggerInvalid("Another one of the file has its name.")
                made = await service.add_trigger(session, principal, flow_id, body, box=self._box)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = ".".join(str(part) for part in first["loc"])
                notes.append(f"{title} was omitted: {place}: {first['msg']}.")
            except HeadgateError as error:
                notes.append(f"{title} was omitted: {error.detail}")
            else:
                names.add(body.name)
                notes += [f"{title} has a new secret: set the one of the other service."] if made.secret else []
        return notes


def _exported(row: TriggerOut) -> JsonValue:
    carried = row.model_dump(mode="json", include=set(_CARRIED), exclude_none=True)
    saved = row.input.model_dump(mode="json", exclude={"file_ids"}, exclude_defaults=True)
    return carried | ({"input": saved} if saved else {})


def _imported(given: JsonValue) -> JsonValue:
    """Return what a new trigger is made of: neither a secret nor an owner nor files."""
    if not isinstance(given, dict):
        return given
    saved = given.get("input")
    carried = {name: given[name] for name in _CARRIED if name in given}
    if isinstance(saved, dict):
        carried["input"] = {name: value for name, value in saved.items() if name != "file_ids"}
    return carried | {"enabled": False}
