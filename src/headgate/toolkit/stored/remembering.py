"""Operations on the state of a flow: values that last between its runs."""

from typing import Annotated

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.flows.state import service
from headgate.features.flows.state.changes import MOST_VALUES
from headgate.features.flows.state.schemas import StateIn
from headgate.foundation.checked import checked
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

Version = Annotated[int | None, Field(ge=0)]
History = Annotated[int, Field(ge=0, le=MOST_VALUES)]


class StateLine(TypedDict):
    """A value in a list."""

    name: str
    version: int
    size_bytes: int
    classification: int | None
    type: str
    changed_at: str


class States(TypedDict):
    """The state of a flow, without values."""

    flow_id: str
    state: list[StateLine]


class PastValue(TypedDict):
    """A value that a name had."""

    version: int
    value: JsonValue
    classification: int | None
    run_id: str | None
    step_id: str | None
    written_at: str


class State(TypedDict):
    """A value with its history, the newest first."""

    flow_id: str
    name: str
    version: int
    value: JsonValue
    type: str
    classification: int | None
    history: list[PastValue]


class Removed(TypedDict):
    """A deleted value."""

    flow_id: str
    name: str
    deleted: bool


async def list_state(visit: Visit, flow_id: str, *, draft: bool = False) -> States:
    """List the values that last between runs of a flow.

    Args:
        flow_id: Id of the flow.
        draft: Those of test runs.
    """
    async with visit.studio.database.reading() as session:
        values = await service.list_state(session, visit.principal, flow_id, draft=draft)
    lines: list[StateLine] = [
        {
            "name": value.name,
            "version": value.version,
            "size_bytes": value.size,
            "classification": value.classification,
            "type": value.type,
            "changed_at": value.changed_at.isoformat(),
        }
        for value in values
    ]
    return {"flow_id": flow_id, "state": lines}


async def read_state(visit: Visit, flow_id: str, name: str, history: History = 5, *, draft: bool = False) -> State:
    """Read a value of a flow's state, with the runs that wrote it.

    Args:
        flow_id: Id of the flow.
        name: Its name.
        history: Earlier values.
        draft: That of test runs.
    """
    async with visit.studio.database.reading() as session:
        value = await service.get_state(
            session, visit.principal, flow_id, name, draft=draft, box=visit.studio.sealer(), history=history
        )
    past: list[PastValue] = [
        {
            "version": entry.version,
            "value": entry.value,
            "classification": entry.classification,
            "run_id": entry.run_id,
            "step_id": entry.step_id,
            "written_at": entry.written_at.isoformat(),
        }
        for entry in value.history
    ]
    return {
        "flow_id": flow_id,
        "name": name,
        "version": value.version,
        "value": value.value,
        "type": value.type,
        "classification": value.classification,
        "history": past,
    }


async def write_state(
    visit: Visit, flow_id: str, name: str, value: JsonValue, expected_version: Version = None, *, draft: bool = False
) -> State:
    """Set a value of a flow's state. With `expected_version` it is refused when a run was faster.

    Args:
        flow_id: Id of the flow.
        name: Its name.
        value: Any JSON.
        expected_version: The version that was read; 0: there is none yet.
        draft: That of test runs.
    """
    body = checked(StateIn, value=value, expected_version=expected_version)
    async with visit.studio.database.writing() as session:
        written = await service.set_state(
            session, visit.principal, flow_id, name, body, draft=draft, box=visit.studio.sealer()
        )
    return {
        "flow_id": flow_id,
        "name": name,
        "version": written.version,
        "value": written.value,
        "type": written.type,
        "classification": written.classification,
        "history": [],
    }


async def delete_state(visit: Visit, flow_id: str, name: str, *, draft: bool = False) -> Removed:
    """Delete a value of a flow's state with its history.

    Args:
        flow_id: Id of the flow.
        name: Its name.
        draft: That of test runs.
    """
    async with visit.studio.database.writing() as session:
        await service.delete_state(session, visit.principal, flow_id, name, draft=draft)
    return {"flow_id": flow_id, "name": name, "deleted": True}


OPERATIONS: tuple[Row, ...] = (
    (list_state, Permission.RUNS_VIEW, "read"),
    (read_state, Permission.RUNS_VIEW, "read"),
    (write_state, Permission.FLOWS_EDIT, "set"),
    (delete_state, Permission.FLOWS_EDIT, "remove"),
)
"""Operations of this module."""
