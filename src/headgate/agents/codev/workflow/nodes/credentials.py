"""Check credentials: the one way in which a session waits for what is missing, and resumes (DD-017).

It is asked after the discovery and after a verdict CREDENTIAL. The place is believed, not the model, and is asked
again after every answer.
"""

from collections.abc import Sequence
from typing import Any, cast

from pydantic import JsonValue

from headgate.agents.codev.domain import NeededCredential
from headgate.agents.codev.ports import Working
from headgate.agents.codev.schemas import CredentialsDone
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.reading import read_credentials
from headgate.agents.codev.workflow.step import Update, emit_phase


async def check_credentials(state: AgentState, working: Working) -> Update:
    """Ask the place for the types that the discovery or the verdict named, whatever it said of them."""
    emit_phase(state, working, "check_credentials")
    summary, named = read_credentials(state.get("discovery_summary") or "")
    before = [str(credential["type"]) for credential in state.get("missing_credentials") or []]
    types = list(dict.fromkeys([*before, *named, *(state.get("wanted_credentials") or [])]))
    missing = await working.workplace.missing_credentials(types) if types else []
    update: Update = {"discovery_summary": summary, "missing_credentials": described(missing)}
    if missing or not state.get("credentials_given"):
        return update
    # The flow is what was approved, and only a credential was missing: it is tested again as it is.
    verdict = state.get("converge_verdict")
    tested = verdict is not None and state.get("conflict") is None
    retest: Update = {"trials": [], "approved": True, "converge_verdict": None} if tested else {}
    return {**update, **retest, "wanted_credentials": []}


def ask_credentials(state: AgentState) -> dict[str, Any]:
    """What the user is asked for. Values go to the place and never through here."""
    missing = list(state.get("missing_credentials") or [])
    return {"type": "credential_check", "prompt": prompt_of(missing), "data": {"missing": missing}}


def prompt_of(missing: Sequence[Any]) -> str:
    """What is asked, with the names of what is still missing."""
    if not missing:
        return "All required credentials are available. Continue."
    names = ", ".join(str(needed.get("label") or needed.get("type", "")) for needed in missing)
    return f"Credentials are missing: {names}. Add them, or continue without."


def take_credentials(_: AgentState, answer: dict[str, Any]) -> Update:
    """Whether to continue without; the place is asked again either way."""
    skipped = CredentialsDone.model_validate(answer).skip
    return {"credentials_skipped": skipped, "credentials_given": not skipped}


def described(missing: Sequence[NeededCredential]) -> list[dict[str, JsonValue]]:
    """What is missing, as interrupts hold it. Never a value."""
    return [_described(needed) for needed in missing]


def _described(needed: NeededCredential) -> dict[str, JsonValue]:
    fields = [
        {"name": field.name, "label": field.label, "secret": field.secret, "optional": field.optional}
        for field in needed.fields
    ]
    description = {"type": needed.type, "label": needed.label, "fields": fields, "where": needed.where}
    return cast("dict[str, JsonValue]", description)
