"""Triggers in the file of a flow: exported without secrets, files and owner; imported switched off."""

from collections.abc import Sequence
from typing import cast, get_args

from pydantic import JsonValue, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.runs.ports.flows import Sealer
from headgate.features.triggers import service
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.schemas import TriggerIn
from headgate.features.triggers.settings import Config, Policies, TriggerInput, default_policies
from headgate.foundation.errors import HeadgateError
from headgate.graph.names import clipped, listed
from headgate.graph.spec_content import ContentReader, Place
from headgate.graph.spec_lines import Faults
from headgate.graph.spec_read import TextTrigger
from headgate.graph.spec_values import key

_CARRIED = ("name", "config", "policies")
_CONFIGS = {model.model_fields["kind"].default: model for model in get_args(get_args(Config)[0])}
"""Settings by kind."""


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
        return [exported(row.name, row.config, row.policies, row.input) for row in reversed(rows)]

    async def problems(self, session: AsyncSession, principal: Principal, flow_id: str) -> list[str]:
        """Return where the triggers of a flow that are on do not fit its form, in words."""
        rows = await service.list_triggers(session, principal, flow_id=flow_id, limit=service.MOST_OF_FLOW)
        return [
            f"Trigger '{row.name}': {problem.message} {problem.remedy}"
            for row in reversed(rows)
            if row.enabled
            for problem in row.problems or ()
        ]

    async def imported(
        self, session: AsyncSession, principal: Principal, flow_id: str, triggers: Sequence[JsonValue]
    ) -> list[str]:
        """Add triggers to a new flow, owned by the caller. One that cannot be added is omitted with its reason.

        Raises `SpecError` for those of a text that are not valid.
        """
        notes: list[str] = []
        valid = read_triggers(triggers)
        names: set[str] = set()
        for number, given in enumerate(triggers, 1):
            name = given.get("name") if isinstance(given, dict) else None
            title = f"Trigger '{clipped(name, 120)}'" if isinstance(name, str) else f"Trigger {number}"
            try:
                body = valid.get(number - 1) or TriggerIn.model_validate(_imported(given))
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


def read_triggers(triggers: Sequence[JsonValue]) -> dict[int, TriggerIn]:
    """Return the triggers of a text by their place in the list, switched off. Raises `SpecError` with their lines."""
    faults = Faults()
    reader = ContentReader(faults)
    valid = {place: _read(reader, given) for place, given in enumerate(triggers) if isinstance(given, TextTrigger)}
    faults.stop()
    return {place: body for place, body in valid.items() if body is not None}


def _read(reader: ContentReader, given: TextTrigger) -> TriggerIn | None:
    config, lines = cast("dict[str, JsonValue]", given["config"]), given.lines
    kind, name = str(config["kind"]), str(given["name"])
    if kind not in _CONFIGS:
        remedy = f"Write '{key(name)}: ' and one of: {listed(_CONFIGS, most=20)}."
        reader.faults.add(lines.default, f"'{clipped(kind, 60)}' is not a kind of trigger.", remedy, field=name)
        return None
    values: dict[str, object] = {"name": name, "enabled": False}
    for part, model in (("config", _CONFIGS[kind]), ("policies", Policies), ("input", TriggerInput)):
        if part in given:
            below = lines.below(part)
            if not isinstance(given[part], dict):
                reader.faults.add(below.default, f"'{part}' has no settings.", "Write them below it.", field=name)
                continue
            values[part] = reader.model(model, cast("dict[str, object]", given[part]), below, Place(field=name))
    if "file_ids" in cast("dict[str, JsonValue]", given.get("input") or {}):
        remedy = "Add them after the import."
        reader.faults.add(lines.of(("input", "file_ids")), "files are not part of the text.", remedy, field=name)
    if any(value is None for value in values.values()):
        return None
    return reader.model(TriggerIn, values, lines, Place(field=name))


def exported(name: str, config: Config, policies: Policies, given: TriggerInput) -> JsonValue:
    """Return a trigger as in a file: what differs from the defaults."""
    settings = {"kind": config.kind} | config.model_dump(mode="json", exclude_defaults=True)
    carried: dict[str, JsonValue] = {"name": name, "config": settings}
    if policies != default_policies(config):
        overlap = {"overlap": policies.overlap}
        carried["policies"] = overlap | policies.model_dump(mode="json", exclude_defaults=True)
    saved = given.model_dump(mode="json", exclude={"file_ids"}, exclude_defaults=True)
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
