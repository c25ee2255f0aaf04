"""The chatflows of one Flowise server, for one user and session."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from headgate.agents.codev.domain import Change, DomainTool, Fault, Held, NeededCredential, Phase, TrialResult
from headgate.agents.codev.domains.flowise import credentials, trials
from headgate.agents.codev.domains.flowise.changing import changing_tools, standing_out
from headgate.agents.codev.domains.flowise.comparing import differences
from headgate.agents.codev.domains.flowise.looking import looking_tools
from headgate.agents.codev.domains.flowise.tool_context import ToolContext
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.graph.cases import TestCase

_PAGES = {"AGENTFLOW": "/v2/agentcanvas", "MULTIAGENT": "/agentcanvas"}


class FlowiseWorkplace:
    """See `domain.Workplace`.

    Args:
        context: The server.
        principal: Who works.
        skill: Instructions for the model, by phase.
    """

    def __init__(self, context: ToolContext, principal: Principal, skill: Mapping[Phase, str]) -> None:
        self._context = context
        self._principal = principal
        self._skill = skill
        self._tools = (*looking_tools(context), *changing_tools(context))

    @property
    def tools(self) -> Sequence[DomainTool]:
        """Return every tool of all phases."""
        return self._tools

    def knowledge(self, phase: Phase) -> str:
        """Markdown of the skill for a phase."""
        return self._skill.get(phase, "")

    async def read(self, flow_id: str) -> Held:
        """Return a chatflow in its current state."""
        return await self._context.store.read(flow_id)

    def preflight(self, change: Change) -> Sequence[Fault]:
        """Return new faults that Flowise would store and then fail at."""
        faults = self._context.faults(change.definition, type_=str(change.about.get("type") or ""))
        return standing_out(faults, change.about)

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Write a change, or make a chatflow."""
        return await self._context.store.write(change, before, token)

    async def find_written(self, token: str) -> Held | None:
        """The chatflow that a write with this token made."""
        return await self._context.store.find_written(token)

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Delete a chatflow that the session made."""
        await self._context.store.remove(flow_id, expected_mark)

    def compare(self, before: dict[str, JsonValue] | None, after: dict[str, JsonValue]) -> list[str]:
        """Return the differences, by node and input."""
        return differences(before, after)

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        """Which of these types the server has no credential of."""
        return await credentials.missing(self._context.client, self._context.catalogue, types)

    async def add_credential(self, type: str, name: str, values: Mapping[str, str]) -> None:  # noqa: A002 - its name
        """Make a credential on the server. Raises `PermissionMissing`, `BadCredential`."""
        self._principal.require(Permission.VARIABLES_MANAGE)
        await credentials.add(self._context.client, self._context.catalogue, type, name, values)

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        """Send the case once, in a separate chat."""
        return await trials.run_case(self._context.client, flow_id, case, session=session)

    def link(self, flow_id: str) -> str:
        """Address of the chatflow's canvas in Flowise."""
        page = _PAGES.get(self._context.store.types.get(flow_id, ""), "/canvas")
        return f"{self._context.client.root}{page}/{flow_id}"

    async def close(self) -> None:
        """Close connections."""
        await self._context.client.close()
