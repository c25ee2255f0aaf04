"""What an installation offers the flows of one space, read at one moment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.assistants import service as assistants
from headgate.features.mcptools.publishing import KnownServer, known_servers
from headgate.features.models.classes import ModelClasses, TenantClasses
from headgate.features.models.local.models import LocalModels
from headgate.features.models.setup.chosen import default_step_model
from headgate.features.models.setup.space import LoadedModels, SpaceModels
from headgate.foundation.database import Database
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.graph.classification import Scheme
from headgate.graph.links import SharedAssistant, StepDefaults


@dataclass(frozen=True, slots=True)
class Classification:
    """The security classes of an organisation."""

    scheme: Scheme
    classes: TenantClasses


@dataclass(frozen=True, slots=True)
class Environment:
    """What flows of a space may use: any number of flows and edits is checked against it without another query."""

    variables: LoadedModels
    """Variables, model servers and what is known of models."""
    servers: Mapping[str, KnownServer]
    """MCP servers by name."""
    assistants: Mapping[str, SharedAssistant]
    """Shared assistants by name."""
    local: LocalModels
    addresses: AddressPolicy
    classification: Classification | None
    """None where classes are switched off."""

    @property
    def defaults(self) -> StepDefaults:
        """What steps get that set nothing themselves."""
        return StepDefaults(self.assistants, default_step_model(self.variables.of))


@dataclass(frozen=True, slots=True)
class Environments:
    """Reads environments of one installation."""

    database: Database
    variables_of: Callable[[str, str], SpaceModels]
    """Variables of a tenant's space."""
    classes: ModelClasses
    local: LocalModels
    addresses: AddressPolicy

    async def of(self, tenant_id: str, space_id: str, session: AsyncSession | None = None) -> Environment:
        """The environment of a space, in at most eight queries and without network."""
        if session is None:
            async with self.database.reading() as own:
                return await self.of(tenant_id, space_id, own)
        classes = self.classes
        classification = (
            Classification(classes.scheme, await classes.of_tenant(tenant_id, session)) if classes.enabled else None
        )
        return Environment(
            variables=await self.variables_of(tenant_id, space_id).loaded(session),
            servers=await known_servers(session, tenant_id=tenant_id, space_id=space_id),
            assistants=await assistants.shared_in(session, tenant_id=tenant_id, space_id=space_id),
            local=self.local,
            addresses=self.addresses,
            classification=classification,
        )
