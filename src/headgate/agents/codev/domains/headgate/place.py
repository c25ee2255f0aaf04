"""The services of a workplace, for one user in one space."""

from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.agents.codev.vault import Vault
from headgate.features.access.principal import Principal, within
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.flows.readiness.environment import Environment
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.foundation.crypto import SecretBox
from headgate.graph.model import Flow
from headgate.toolkit.stored.visit import Studio, Visit

KeysOf = Callable[[Principal], KeySource]
"""The key source of a user's models."""


@dataclass(slots=True)
class Place:
    """The user, the space and the services. `catalog` is that of the last flow read."""

    studio: Studio
    principal: Principal
    space_id: str
    keys_of: KeysOf
    box: SecretBox
    local: LocalModels | None
    catalog: Overlay
    environment: Environment | None = None
    """The environment of that flow's space."""
    visit: Visit = field(init=False)

    def __post_init__(self) -> None:
        self.visit = Visit(self.studio, self.principal)

    def keys(self) -> KeySource:
        """Return the key source."""
        return self.keys_of(within(self.principal, self.space_id))

    def vault(self) -> Vault:
        """The variables of the space."""
        return Vault(self.studio.database, self.box, self.principal, self.space_id, self.keys(), self.local)

    async def learn(self, flow: Flow) -> Overlay:
        """Load the components available to a flow, including its custom ones."""
        self.catalog = await self.visit.catalog(flow)
        return self.catalog
