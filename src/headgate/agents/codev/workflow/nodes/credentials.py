"""Check credentials: what is missing is asked for before anything is planned (DD-017).

The place is believed, not the model.
"""

from typing import Any, cast

from pydantic import JsonValue

from headgate.agents.codev.domain import NeededCredential
from headgate.agents.codev.ports import Working
from headgate.agents.codev.schemas import CredentialsDone
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.reading import read_credentials
from headgate.agents.codev.workflow.step import Update, phase_told


async def check_credentials(state: AgentState, working: Working) -> Update:
    """Ask the place for the types that the discovery named, whatever it said of them."""
    phase_told(state, working, "check_credentials")
    summary, named = read_credentials(state.get("discovery_summary") or "")
    before = [str(one["type"]) for one in state.get("missing_credentials") or []]
    types = list(dict.fromkeys([*before, *named]))
    missing = await working.workplace.missing_credentials(types) if types else []
    return {"discovery_summary": summary, "missing_credentials": [_told(one) for one in missing]}


def ask_credentials(state: AgentState) -> dict[str, Any]:
    """What the person is asked for. Values go to the place and never through here."""
    missing = list(state.get("missing_credentials") or [])
    names = ", ".join(str(one.get("label") or one.get("type", "")) for one in missing)
    return {
        "type": "credential_check",
        "prompt": f"The work needs credentials that are not there: {names}. Make them, or go on without.",
        "data": {"missing": missing},
    }


def take_credentials(_: AgentState, answer: dict[str, Any]) -> Update:
    """Whether to go on without; otherwise the place is asked again."""
    return {"credentials_skipped": CredentialsDone.model_validate(answer).skip}


def _told(needed: NeededCredential) -> dict[str, JsonValue]:
    fields = [
        {"name": one.name, "label": one.label, "secret": one.secret, "optional": one.optional} for one in needed.fields
    ]
    told = {"type": needed.type, "label": needed.label, "fields": fields, "where": needed.where}
    return cast("dict[str, JsonValue]", told)
