"""Foundation of the development agent."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from headgate.agents.codev.domains.flowise.domain import FlowiseServers
from headgate.agents.codev.patterns.library import PatternLibrary
from headgate.agents.codev.schemas import InstanceOut
from headgate.agents.codev.tables import SessionRow
from headgate.entrypoints.assistance import Assistance
from headgate.entrypoints.flow_runs import FlowRuns
from headgate.entrypoints.installation import Installation
from headgate.entrypoints.services import StepServices
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, system_principal
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.search import WordIndex
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.service import get_flow
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.service import Notary
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.graph.model import Flow


@dataclass(frozen=True, slots=True)
class Ground:
    """Services that the development agent is built on."""

    settings: Settings
    services: StepServices
    runs: FlowRuns
    index: WordIndex
    engine: ExecutionBackend
    rules: FlowRules
    assistance: Assistance
    flowise: FlowiseServers

    @property
    def installation(self) -> Installation:
        """The database and the parts that read it."""
        return self.services.installation

    @property
    def database(self) -> Database:
        """The installation's."""
        return self.runs.database

    @property
    def notary(self) -> Notary:
        """Signs and seals evidence."""
        return self.installation.notary

    async def secret_of(self, session: SessionRow, name: str) -> SecretStr | None:
        """Return the value of a variable of a session's space or tenant; None when there is none."""
        headgate = system_principal(session.tenant_id, session.space_id)
        return await self.installation.keys_of(headgate, "notice", session.id).key(name)

    def patterns_of(self, principal: Principal, space_id: str, domain: str, session_id: str) -> PatternLibrary:
        """The library of patterns of a session."""
        return PatternLibrary(self.database, principal, space_id, domain, session_id)

    async def catalog_of(self, principal: Principal, flow: Flow) -> Overlay:
        """Return the components that a user may use in a flow."""
        own = await self.assistance.workshop.components.own_components(principal, flow)
        return Overlay(self.installation.registry, self.index, own)

    async def flowise_instances(self, principal: Principal) -> Sequence[InstanceOut]:
        """Return the Flowise servers that a user's sessions may use."""
        instances = await self.flowise.instances.list(principal)
        return [InstanceOut(id=instance.id, endpoint=instance.endpoint) for instance in instances]

    async def space_of(self, principal: Principal, flow_id: str) -> str:
        """Return the space of a flow that the user may edit. Raises `FlowNotFound`, `PermissionMissing`."""
        async with self.database.reading() as session:
            return (await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT)).space_id
