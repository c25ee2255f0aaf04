"""Changes one value in the caller's transaction: the value, its version and its history."""

from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.state import repository
from headgate.features.flows.state.changes import MOST_NAMES, MOST_VALUES, changed, check_name, check_type, size_of
from headgate.features.flows.state.errors import StateChanged, StateInvalid
from headgate.features.flows.state.sealed import Sealer, seal, unseal
from headgate.features.flows.state.tables import FlowStateRow
from headgate.foundation.database import microseconds, now
from headgate.graph.value_names import ANY_TYPE
from headgate.sdk.state import StateChange, StateType, StateValue


@dataclass(frozen=True, slots=True)
class Place:
    """Where values are: a flow, and whether they are those of its unpublished versions."""

    tenant_id: str
    flow_id: str
    draft: bool


@dataclass(frozen=True, slots=True)
class Writer:
    """What writes a value: a step of a run, or a user."""

    run_id: str | None = None
    step_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A written value, and the marks of outside content in it."""

    value: StateValue
    outside: tuple[str, ...]
    classification: int | None
    """Of the value and the one before it; None where neither is known."""


@dataclass(frozen=True, slots=True)
class Held:
    """The current value, locked."""

    value: JsonValue = None
    version: int = 0
    outside: tuple[str, ...] = ()
    classification: int | None = None
    type: StateType = "any"


async def write_value(
    session: AsyncSession,
    change: StateChange,
    writer: Writer,
    place: Place,
    *,
    box: Sealer,
    outside: tuple[str, ...] = (),
    classification: int | None = None,
    kept_runs: Select[tuple[str]] | None = None,
) -> Written:
    """Change a value. Its row, or its flow for a new name, is locked: concurrent changes follow each other.

    `classification` is that of what reached the writer. A user who sets a value keeps that of the value before.

    A step of a run writes once: what it has written is returned. Raises `FlowNotFound`, `StateInvalid`, `StateChanged`.
    """
    check_name(change.name)
    held = await _hold(session, change.name, place, box)
    earlier = await _written_before(session, writer, place, box)
    if earlier is not None:
        return earlier
    if change.expected_version is not None and change.expected_version != held.version:
        raise StateChanged(change.name, expected=change.expected_version, version=held.version)
    value = changed(change, held.value)
    type_ = held.type if change.type == ANY_TYPE else change.type
    check_type(change.name, value, type_)
    marks = sorted({*outside, *(() if change.operation == "set" else held.outside)})
    level = held.classification if writer.user_id is not None else classification
    if change.operation != "set":
        level = _highest(level, held.classification)
    content = {"value": value, "outside": marks}
    key: dict[str, Any] = {"flow_id": place.flow_id, "draft": place.draft, "name": change.name}
    key["version"] = held.version + 1
    at = microseconds(now())
    state = {**key, "size": size_of(change.name, value), "content": seal(box, content), "changed_at": at}
    state |= {"classification": level, "value_type": None if type_ == ANY_TYPE else type_}
    store = repository.change_state if held.version else repository.add_state
    await store(session, state, tenant_id=place.tenant_id)
    written = {"flow_run_id": writer.run_id, "step_id": writer.step_id, "user_id": writer.user_id, "written_at": at}
    past = {"previous": held.value, "previous_classification": held.classification}
    entry = {**key, **written, "content": seal(box, {**content, **past}), "classification": level}
    await repository.add_value(session, entry, tenant_id=place.tenant_id)
    until = held.version + 1 - MOST_VALUES
    if until > 0:
        await repository.delete_values(
            session,
            place.flow_id,
            change.name,
            draft=place.draft,
            tenant_id=place.tenant_id,
            until=until,
            kept_runs=kept_runs,
        )
    return Written(StateValue(value, held.version + 1, held.value), tuple(marks), _highest(level, held.classification))


def type_of(row: FlowStateRow) -> StateType:
    """Return the declared type of a value."""
    return cast("StateType", row.value_type or ANY_TYPE)


def _highest(*levels: int | None) -> int | None:
    """Return the highest known classification; None where none is known."""
    return max((level for level in levels if level is not None), default=None)


async def _written_before(session: AsyncSession, writer: Writer, place: Place, box: Sealer) -> Written | None:
    """Return what an earlier attempt at the same step has written."""
    if writer.run_id is None or writer.step_id is None:
        return None
    row = await repository.find_value_of_step(session, writer.run_id, writer.step_id, tenant_id=place.tenant_id)
    if row is None:
        return None
    content = unseal(box, row.content)
    level = _highest(row.classification, content.get("previous_classification"))
    return Written(StateValue(content["value"], row.version, content["previous"]), tuple(content["outside"]), level)


async def _hold(session: AsyncSession, name: str, place: Place, box: Sealer) -> Held:
    """Lock the value, or the flow when there is none yet."""
    flow_id = place.flow_id
    scope: dict[str, Any] = {"draft": place.draft, "tenant_id": place.tenant_id}
    row = await repository.find_state(session, flow_id, name, lock=True, **scope)
    if row is None:
        if not await repository.hold_flow(session, flow_id, tenant_id=place.tenant_id):
            raise FlowNotFound(flow_id)
        row = await repository.find_state(session, flow_id, name, lock=True, **scope)
    if row is not None:
        opened = unseal(box, row.content)
        return Held(opened["value"], row.version, tuple(opened["outside"]), row.classification, type_of(row))
    if await repository.count_states(session, flow_id, **scope) >= MOST_NAMES:
        raise StateInvalid(f"A flow has at most {MOST_NAMES} states.", remedy="Delete one, or use an existing name.")
    return Held()
