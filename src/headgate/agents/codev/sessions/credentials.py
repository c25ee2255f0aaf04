"""What a session still waits for: credentials leave the list at once, wherever they were added."""

from typing import Any

from headgate.agents.codev.domain import Workplace
from headgate.agents.codev.sessions.repository import PENDING
from headgate.agents.codev.tables import SessionRow
from headgate.agents.codev.workflow.nodes.credentials import described, prompt_of


def waits_for_credentials(row: SessionRow) -> bool:
    """Whether the session waits for credentials."""
    return row.status == PENDING and (row.interrupt or {}).get("type") == "credential_check"


async def still_missing(workplace: Workplace, interrupt: dict[str, Any]) -> dict[str, Any]:
    """The interrupt with what its place lacks now. Raises what the place raises."""
    data = interrupt.get("data") or {}
    types = [str(needed.get("type", "")) for needed in data.get("missing") or []]
    missing = described(await workplace.missing_credentials(types)) if types else []
    return {**interrupt, "prompt": prompt_of(missing), "data": {**data, "missing": missing}}
