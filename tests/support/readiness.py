"""The readiness check for tests that put an installation together by hand."""

from headgate.features.catalog.registry import Registry
from headgate.features.flows.readiness.environment import Environments
from headgate.features.flows.rules import FlowRules
from headgate.features.models.classes import ModelClasses
from headgate.features.models.local.models import LocalModels
from headgate.features.models.setup.space import SpaceModels
from headgate.features.runs.ports.flows import Components
from headgate.features.secrets.reads import NO_READS
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.support.direct import DIRECT


def rules_of(database: Database, components: "Components | Registry", settings: Settings | None = None) -> FlowRules:
    """The check on a database; flows may reach this machine, as tests do."""
    box = SecretBox(new_ring(settings or Settings()))
    environments = Environments(
        database,
        lambda tenant_id, space_id: SpaceModels(database, box, tenant_id, space_id, audit=NO_READS, outgoing=DIRECT),
        ModelClasses(database, ClassificationSettings(), components),
        LocalModels(),
        AddressPolicy(OPERATOR_NETWORKS),
    )
    return FlowRules(components, environments)
