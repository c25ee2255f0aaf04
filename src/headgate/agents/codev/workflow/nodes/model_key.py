"""The model's own key: a session whose provider lacks or refuses it waits for it, as for any other credential."""

from typing import Any, cast

from pydantic import JsonValue

from headgate.agents.codev.domain import CredentialField, NeededCredential
from headgate.agents.codev.ports import Working
from headgate.agents.codev.reasoning.errors import NoReasoningModel
from headgate.agents.codev.schemas import CredentialsDone
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.nodes.credentials import described
from headgate.agents.codev.workflow.step import Update
from headgate.features.models.errors import KeyMissing, KeyRejected
from headgate.foundation.errors import HeadgateError

KEY_ERRORS = (NoReasoningModel, KeyMissing, KeyRejected)
"""What a session waits for, instead of ending with it."""


def waiting(working: Working, error: HeadgateError, node: str) -> Update:
    """The update of a node whose model call failed for its key: it is asked for, and the node runs again."""
    variable, model = error.extra.get("variable"), working.reasoning.model_id
    provider = str(error.extra.get("provider") or model.partition("/")[0])
    named = isinstance(variable, str) and variable != ""
    fields = (CredentialField(str(variable), str(variable)),) if named else ()
    where = f"{error.detail} {error.remedy}".strip()
    needed = NeededCredential(str(variable) if named else provider, str(variable) if named else provider, fields, where)
    key: dict[str, JsonValue] = {
        "missing": cast("JsonValue", described([needed])),
        "model": model,
        "reason": error.detail,
        "refused": isinstance(error, KeyRejected),
    }
    return {"model_key": key, "continue_at": node}


def ask_model_key(state: AgentState) -> dict[str, Any]:
    """What the user is asked for. Values go to the variables and never through here."""
    key = state.get("model_key") or {}
    prompt = f"The session's model {key.get('model')} cannot be called: {key.get('reason')}"
    return {"type": "credential_check", "prompt": prompt, "data": {**key, "of": "model"}}


def take_model_key(_: AgentState, answer: dict[str, Any]) -> Update:
    """Try again with the key as it is now; without it the session stops, and can continue with another model."""
    return {"stop_code": "model_key"} if CredentialsDone.model_validate(answer).skip else {}
