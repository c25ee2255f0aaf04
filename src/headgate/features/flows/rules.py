"""Requirements of an installation: a flow must be ready to run, and pass the publishing gates."""

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
    """An additional requirement for publishing a flow."""

    async def require(self, session: AsyncSession, flow: FlowRow, version: FlowVersionRow) -> None:
        """Raise `HeadgateError` unless this version of the locked flow may be published."""


@dataclass(frozen=True, slots=True)
class FlowRules:
    """The readiness check with the components and environments of one installation."""

    catalog: Components
    environments: Environments
    gates: Callable[[], Sequence[PublishGate]] = tuple

    async def check(
        self, tenant_id: str, space_id: str, flow: Flow, *, session: AsyncSession | None = None
    ) -> Readiness:
        """Return whether a flow of a space can run, with everything that prevents it."""
        components = await self.catalog.for_flow(tenant_id, flow, session=session)
        environment = await self.environment(tenant_id, space_id, session=session, flow=flow)
        return await run_in_flow_thread(check, flow, components, environment)  # analysing large code takes a while

    async def environment(
        self, tenant_id: str, space_id: str, *, session: AsyncSession | None = None, flow: Flow | None = None
    ) -> Environment:
        """Return what flows of a space may currently use; with a flow, also the operations of APIs that it names."""
        return await self.environments.of(tenant_id, space_id, session, flow=flow)
