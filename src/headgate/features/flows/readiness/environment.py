"""A snapshot of what an installation provides to the flows of one space."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.assistants import service as assistants
from headgate.features.connections.known import KnownConnection, known_connections, operations_of
from headgate.features.flows.called import PublishedFlows, published_flows
from headgate.features.mcptools.publishing import KnownServer, known_servers
from headgate.features.models.classes import ModelClasses, TenantClasses
from headgate.features.models.local.models import LocalModels
from headgate.features.models.setup.chosen import default_step_model
from headgate.features.models.setup.space import LoadedModels, SpaceModels
from headgate.foundation.database import Database
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.graph.classification import Scheme
from headgate.graph.links import SharedAssistant, StepDefaults, flow_references
from headgate.graph.model import Flow
from headgate.graph.template import Catalog


@dataclass(frozen=True, slots=True)
class Classification:
    """The classification scheme of an organisation."""

    scheme: Scheme
    classes: TenantClasses


@dataclass(frozen=True, slots=True)
class Environment:
    """A snapshot of what flows of a space may use: flows and edits are checked against it without further queries."""

    variables: LoadedModels
    """Variables, model servers and facts about models."""
    servers: Mapping[str, KnownServer]
    """MCP servers by name."""
    connections: Mapping[str, Sequence[KnownConnection]]
    """Connections by name."""
    assistants: Mapping[str, SharedAssistant]
    """Shared assistants by name."""
    local: LocalModels
    addresses: AddressPolicy
    flows: PublishedFlows
    """Published flows of the organisation."""
    classification: Classification | None
    """None when classification is disabled."""

    @property
    def defaults(self) -> StepDefaults:
        """Return the default values of steps, without flows that they run."""
        return StepDefaults(self.assistants, default_step_model(self.variables.of))

    def defaults_of(self, flow: Flow, catalog: Catalog) -> StepDefaults:
        """Return the default values of a flow's steps, and the flows that they run."""
        return replace(self.defaults, flows=self.flows.named(flow_references(flow, catalog).values()))


@dataclass(frozen=True, slots=True)
class Environments:
    """Reads environments of one installation."""

    database: Database
    variables_of: Callable[[str, str], SpaceModels]
    """Variables of a tenant's space."""
    classes: ModelClasses
    local: LocalModels
    addresses: AddressPolicy

    async def of(
        self, tenant_id: str, space_id: str, session: AsyncSession | None = None, *, flow: Flow | None = None
    ) -> Environment:
        """Return the environment of a space, in at most eleven queries and without network.

        With a flow, connections have the contracts of the operations that it names.
        """
        if session is None:
            async with self.database.reading() as own_session:
                return await self.of(tenant_id, space_id, own_session, flow=flow)
        operations = {name for node in flow.nodes for name in operations_of(node.params)} if flow is not None else ()
        classes = self.classes
        classification = (
            Classification(classes.scheme, await classes.of_tenant(tenant_id, session)) if classes.enabled else None
        )
        return Environment(
            variables=await self.variables_of(tenant_id, space_id).loaded(session),
            servers=await known_servers(session, tenant_id=tenant_id, space_id=space_id),
            connections=await known_connections(session, tenant_id=tenant_id, space_id=space_id, operations=operations),
            assistants=await assistants.shared_in(session, tenant_id=tenant_id, space_id=space_id),
            local=self.local,
            addresses=self.addresses,
            flows=await published_flows(session, tenant_id=tenant_id, space_id=space_id),
            classification=classification,
        )
