"""What an installation demands of a flow: that it can run, and what has to hold before it is published."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.catalog.registry import Components
from headgate.features.flows.readiness.answer import Readiness
from headgate.features.flows.readiness.check import check
from headgate.features.flows.readiness.environment import Environment, Environments
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.model import Flow


class PublishGate(Protocol):
    """Something else that has to hold before a flow is published."""

    async def require(self, session: AsyncSession, flow: FlowRow, version: FlowVersionRow) -> None:
        """Raise `HeadgateError` unless this version of the flow, which is locked, may be published."""
        ...


@dataclass(frozen=True, slots=True)
class FlowRules:
    """The readiness check on the parts of one installation."""

    catalog: Components
    environments: Environments
    gates: Callable[[], Sequence[PublishGate]] = tuple

    async def check(
        self, tenant_id: str, space_id: str, flow: Flow, *, session: AsyncSession | None = None
    ) -> Readiness:
        """Whether a flow of a space can run, with everything that prevents it."""
        known = await self.catalog.for_flow(tenant_id, flow, session=session)
        environment = await self.environment(tenant_id, space_id, session=session)
        return await run_in_flow_thread(check, flow, known, environment)  # reading much code takes a while

    async def environment(self, tenant_id: str, space_id: str, *, session: AsyncSession | None = None) -> Environment:
        """What flows of a space may use, as it is now."""
        return await self.environments.of(tenant_id, space_id, session)
