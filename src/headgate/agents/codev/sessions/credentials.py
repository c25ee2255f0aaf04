"""Credentials that a session waits for: they leave the list as soon as they exist.

Those of the flow are its place's. The key of the session's model is a variable of its space, whatever the place.
"""

from collections.abc import Mapping
from typing import Any

from headgate.agents.codev import vault as credentials
from headgate.agents.codev.domain import Workplace
from headgate.agents.codev.sessions.places import opened
from headgate.agents.codev.sessions.repository import PENDING
from headgate.agents.codev.sessions.responses import waits_for_model_key
from headgate.agents.codev.sessions.runner import Runner
from headgate.agents.codev.tables import SessionRow
from headgate.agents.codev.vault import Vault
from headgate.agents.codev.workflow.nodes.credentials import described, prompt_of
from headgate.features.access.principal import Principal, within

Interrupt = dict[str, Any]


def waits_for_credentials(row: SessionRow) -> bool:
    """Whether the session waits for credentials."""
    return row.status == PENDING and (row.interrupt or {}).get("type") == "credential_check"


async def still_missing(runner: Runner, principal: Principal, row: SessionRow) -> Interrupt:
    """Return the interrupt with what is still missing. Raises the platform's errors."""
    if waits_for_model_key(row):
        return await _model_lacks(_vault(runner, principal, row), dict(row.interrupt or {}))
    async with opened(runner.around.place(row.domain), principal, row) as workplace:
        return await _place_lacks(workplace, dict(row.interrupt or {}))


async def add(
    runner: Runner, principal: Principal, row: SessionRow, kind: str, *, name: str, values: Mapping[str, str]
) -> Interrupt | None:
    """Add a credential. Returns the interrupt with what is still missing; None when not waiting for any."""
    if waits_for_model_key(row):
        vault = _vault(runner, principal, row)
        await credentials.add(vault, kind, values)
        return await _model_lacks(vault, dict(row.interrupt or {}), given=kind)
    async with opened(runner.around.place(row.domain), principal, row) as workplace:
        await workplace.add_credential(kind, name or kind, values)
        return await _place_lacks(workplace, dict(row.interrupt or {})) if waits_for_credentials(row) else None


def _vault(runner: Runner, principal: Principal, row: SessionRow) -> Vault:
    keys = runner.around.reasoning.keys_of(within(principal, row.space_id), row.id)
    return Vault(runner.database, runner.box, principal, row.space_id, keys)


async def _model_lacks(vault: Vault, interrupt: Interrupt, given: str = "") -> Interrupt:
    """Return missing model keys: a rejected one until another is set, an unset one until it is set."""
    data = interrupt.get("data") or {}
    missing = [needed for needed in data.get("missing") or [] if needed.get("type") != given]
    if not data.get("refused") and any(needed.get("fields") for needed in missing):
        lacking = {
            needed.type for needed in await credentials.missing(vault, [credential["type"] for credential in missing])
        }
        missing = [needed for needed in missing if needed["type"] in lacking]
    return {**interrupt, "data": {**data, "missing": missing}}


async def _place_lacks(workplace: Workplace, interrupt: Interrupt) -> Interrupt:
    data = interrupt.get("data") or {}
    types = [str(needed.get("type", "")) for needed in data.get("missing") or []]
    missing = described(await workplace.missing_credentials(types)) if types else []
    return {**interrupt, "prompt": prompt_of(missing), "data": {**data, "missing": missing}}
