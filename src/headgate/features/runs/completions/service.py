"""Maps a chat to a run, and a run's result to a completion."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import repository as flows
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.service import get_flow, get_flow_named
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.completions.schemas import Answer, ChatMessage, ModelOut
from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.schemas import RunOut
from headgate.foundation.database import microseconds
from headgate.foundation.errors import Invalid, NotFound
from headgate.foundation.ids import is_id
from headgate.sdk import Message

MOST_MODELS = 1_000


class ModelNotFound(NotFound):
    """No published flow of that id or name for this caller."""

    code = "model_not_found"

    def __init__(self, model: str) -> None:
        super().__init__(
            f"There is no published flow '{model[:200]}'.", remedy="GET /v1/models lists the flows that you can run."
        )


async def find_model(session: AsyncSession, principal: Principal, model: str) -> FlowRow:
    """Return the published flow of that id or name that the caller may run.

    Raises `ModelNotFound`, `PermissionMissing`, `AmbiguousFlow`.
    """
    if "\x00" in model:  # PostgreSQL cannot store such text
        raise ModelNotFound(model)
    try:
        flow_id = model if is_id(model) else (await get_flow_named(session, principal, model)).id
        row = await get_flow(session, principal, flow_id, permission=Permission.RUNS_START)
    except FlowNotFound:
        raise ModelNotFound(model) from None
    if row.published_version is None:
        raise ModelNotFound(model)
    return row


async def list_models(session: AsyncSession, principal: Principal) -> Sequence[ModelOut]:
    """List the published flows that the caller may run: by name, and by id where two have the same name."""
    rows = await flows.list_published(
        session, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces, limit=MOST_MODELS
    )
    permitted = [row for row in rows if principal.may(Permission.RUNS_START, row.space_id)]
    names = [row.name for row in permitted]
    return [model_of(row, by_name=names.count(row.name) == 1) for row in permitted]


def model_of(row: FlowRow, *, by_name: bool) -> ModelOut:
    """Return a flow as a model."""
    return ModelOut(id=row.name if by_name else row.id, created=microseconds(row.created_at) // 1_000_000)


def chat_of(messages: Sequence[ChatMessage]) -> tuple[str, tuple[Message, ...]]:
    """Return the user's last message and the chat before it. Raises `InputInvalid`.

    Messages after the user's last one are ignored: a flow answers once.
    """
    last = next((index for index in reversed(range(len(messages))) if messages[index].role == "user"), None)
    if last is None:
        raise InputInvalid(
            "The request has no message with role 'user'.", remedy="Send the user's text as the last message."
        )
    earlier = [_message(message) for message in messages[:last] if message.role not in {"tool", "function"}]
    return _text(messages[last]), tuple(message for message in earlier if message.text)


def _message(message: ChatMessage) -> Message:
    role = "system" if message.role in {"system", "developer"} else message.role
    return Message.model_validate({"role": role, "text": _text(message)})


def _text(message: ChatMessage) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    strange = next((part.type for part in message.content if part.type not in {"text", "input_text"}), None)
    if strange is not None:
        raise Invalid(
            f"A message has a part of type '{strange}'; only text is supported.",
            remedy="Upload files to /api/v1/files and run the flow with their ids.",
        )
    return "\n".join(part.text for part in message.content)


def usage_of(run: RunOut) -> Answer:
    """Sum the tokens of all models that the run called."""
    executed = [step for step in run.steps if step.reused_from_run_id is None]
    prompt = sum(step.tokens_input or 0 for step in executed)
    tokens_output = sum(step.tokens_output or 0 for step in executed)
    return {"prompt_tokens": prompt, "completion_tokens": tokens_output, "total_tokens": prompt + tokens_output}
