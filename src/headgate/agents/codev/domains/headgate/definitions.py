"""A flow in a session: the JSON of its stored draft."""

from pydantic import JsonValue

from headgate.agents.codev.domain import Held, mark_of
from headgate.features.flows import service as flows
from headgate.features.flows.tables import FlowRow
from headgate.foundation.canonical import digest
from headgate.graph.links import unlink
from headgate.graph.model import Flow

Definition = dict[str, JsonValue]


def definition_of(flow: Flow) -> Definition:
    """The flow as its draft is stored, name and description among it. Places on the canvas count."""
    definition: Definition = unlink(flow).model_dump(mode="json", exclude_defaults=True)
    return definition


def flow_of(definition: Definition | None) -> Flow:
    """The flow that a definition is of; an empty one of none."""
    return Flow.model_validate(definition) if definition is not None else Flow()


def held_of(row: FlowRow) -> Held:
    """A stored flow as the session sees it."""
    definition = definition_of(flows.definition_of(row))
    return Held(
        flow_id=row.id,
        name=row.name,
        definition=definition,
        mark=mark_of(definition),
        about={"revision": row.revision, "space_id": row.space_id},
        saved=str(row.revision),
    )


def id_for(token: str) -> str:
    """The id of the flow that a write with this token makes: the same again when the write is made again.

    It sorts by the time at which the token was made, as every id does.
    """
    hashed = digest(f"codev flow {token}")
    made = token[:13] if _begins_like_an_id(token) else f"{hashed[32:40]}-{hashed[40:44]}"
    return f"{made}-7{hashed[0:3]}-8{hashed[3:6]}-{hashed[6:18]}"


def _begins_like_an_id(token: str) -> bool:
    head = token[:13]
    return (
        len(head) == 13
        and head[8] == "-"
        and all(character in "0123456789abcdef" for character in head.replace("-", "", 1))
    )
