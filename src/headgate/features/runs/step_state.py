"""The state of a flow for its steps: reads values, and writes one for each step of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.state import repository
from headgate.features.flows.state.changes import check_name
from headgate.features.flows.state.sealed import unseal
from headgate.features.flows.state.writing import Place, Writer, write_value
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import StoredValue
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.sdk.state import StateChange, StateValue

_LIVE = [status.value for status in LIVE_RUNS]


@dataclass(frozen=True, slots=True)
class FlowState:
    """State of flows for steps; see `ports.FlowState`."""

    database: Database
    box: Sealer

    async def read(self, origin: Origin, name: str) -> StoredValue:
        """Return a value; null with version 0 when there is none. Raises `StateInvalid`."""
        check_name(name)
        key = origin.key
        async with self.database.reading() as session:
            place = await _place(session, key)
            row = await repository.find_state(session, key.flow_id, name, draft=place.draft, tenant_id=key.tenant_id)
            if row is None:
                return StoredValue(StateValue(None, 0), ())
            content = unseal(self.box, row.content)
            return StoredValue(StateValue(content["value"], row.version), tuple(content["outside"]), row.classification)

    async def write(
        self, origin: Origin, change: StateChange, *, outside: Sequence[str], classification: int | None = None
    ) -> StoredValue:
        """Change a value, unless the step of the run has done so. Raises `FlowNotFound` and the errors of `State`."""
        key = origin.key
        async with self.database.writing() as session:
            written = await write_value(
                session,
                change,
                Writer(run_id=key.run_id, step_id=origin.step_id),
                await _place(session, key),
                box=self.box,
                outside=tuple(outside),
                classification=classification,
                kept_runs=select(flow_runs.c.id).where(
                    flow_runs.c.flow_id == key.flow_id, flow_runs.c.status.in_(_LIVE)
                ),
            )
        return StoredValue(written.value, written.outside, written.classification)


async def _place(session: AsyncSession, key: RunKey) -> Place:
    published = await repository.was_published(session, key.flow_id, key.version, tenant_id=key.tenant_id)
    return Place(key.tenant_id, key.flow_id, draft=not published)
