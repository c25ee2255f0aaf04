"""The flows of an installation, for one user and session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev import vault as credentials
from headgate.agents.codev.domain import (
    Change,
    DomainTool,
    Fault,
    Held,
    NeededCredential,
    Phase,
    PutBack,
    TrialResult,
)
from headgate.agents.codev.domains.headgate import storing, trials
from headgate.agents.codev.domains.headgate.definitions import Definition, flow_of, held_of
from headgate.agents.codev.domains.headgate.differences import lines_of
from headgate.agents.codev.domains.headgate.discovery import reading_tools
from headgate.agents.codev.domains.headgate.editing import editing_tools
from headgate.agents.codev.domains.headgate.faults import STANDING, faults_of
from headgate.agents.codev.domains.headgate.place import Place
from headgate.features.access.permissions import Permission
from headgate.foundation.names import name_from
from headgate.graph.cases import TestCase
from headgate.graph.model import Flow


@dataclass
class HeadgateWorkplace:
    """A `domain.Workplace` over the toolkit."""

    place: Place
    known: Mapping[Phase, str]
    has_servers: bool = False
    has_connections: bool = False
    trial_seconds: float = 600.0

    @cached_property
    def tools(self) -> Sequence[DomainTool]:
        """Return every tool of all phases."""
        reading = reading_tools(self.place, has_servers=self.has_servers, has_connections=self.has_connections)
        return (*reading, *editing_tools(self.place))

    def knowledge(self, phase: Phase) -> str:
        """Markdown of the skill for a phase."""
        return self.known.get(phase, "")

    async def read(self, flow_id: str) -> Held:
        """Return the draft of a flow that the user may edit. Raises `FlowNotFound`, `PermissionMissing`."""
        row = await self.place.visit.flow(flow_id, Permission.FLOWS_EDIT)
        held = held_of(row)
        await self.place.learn(flow_of(held.definition))
        return held

    def preflight(self, change: Change) -> Sequence[Fault]:
        """Return what newly prevents a change from being saved or run; see `faults`."""
        try:
            flow = flow_of(change.definition)
        except ValidationError as error:
            where = [".".join(str(part) for part in fault["loc"]) for fault in error.errors(include_url=False)[:20]]
            return [Fault(place, "this is not a flow.", "Use the tools to create it.") for place in where]
        standing = change.about.get(STANDING)
        return faults_of(flow, self.place.catalog, list(map(str, standing)) if isinstance(standing, list) else ())

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Save the draft in one transaction with the comparison. Raises `WriteConflict`, `FlowInvalid`, `Forbidden`."""
        return await storing.write(self.place, change, before, token)

    async def find_written(self, token: str) -> Held | None:
        """The flow that a write with this token made."""
        return await storing.find_written(self.place, token)

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Delete a flow; its versions and runs are kept as evidence. Raises `WriteConflict`, `FlowNotFound`."""
        await storing.remove(self.place, flow_id, expected_mark)

    async def put_back(self, session: AsyncSession, step: PutBack) -> None:
        """Make a flow an earlier version of itself within a transaction. Raises `WriteConflict`, `FlowNotFound`."""
        await storing.put_back(session, self.place, step)

    def compare(self, before: dict[str, JsonValue] | None, after: dict[str, JsonValue]) -> list[str]:
        """Return the differences, one line each, without secret values."""
        new = flow_of(after)
        return lines_of(_old(before, new), new, self.place.catalog)

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        """Which of these the tenant does not have."""
        return await credentials.missing(self.place.vault(), types)

    async def add_credential(self, type: str, name: str, values: Mapping[str, str]) -> None:  # noqa: A002, ARG002 - the port's
        """Set the variables of a credential. `name` is ignored: a variable is its own name."""
        await credentials.add(self.place.vault(), type, values)

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        """Run the draft once for a case."""
        return await trials.run_once(self.place, flow_id, case, session=session, seconds=self.trial_seconds)

    def link(self, flow_id: str) -> str:
        """Address of the flow's page, from the root of the studio."""
        return f"/flows/{flow_id}"

    async def close(self) -> None:
        """Nothing is open."""


def _old(before: Definition | None, new: Flow) -> Flow:
    """The flow before; of a new one an empty one that is called the same."""
    return (
        flow_of(before)
        if before is not None
        else Flow(name=name_from(new.name, longest=200, otherwise="Untitled flow"), description=new.description)
    )
