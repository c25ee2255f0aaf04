"""An open database and the parts that read it. Each part is created, and its modules imported, on first use."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.keyring.current import read_current
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import SILENT, Telemetry

if TYPE_CHECKING:
    from headgate.features.catalog import installed, registry, search
    from headgate.features.catalog.own import store
    from headgate.features.encryption import keys as data_keys
    from headgate.features.files import opening, storage
    from headgate.features.flows import rules
    from headgate.features.flows.readiness import environment
    from headgate.features.models import classes, providers
    from headgate.features.models.local import fetching
    from headgate.features.models.local import models as local_models
    from headgate.features.models.setup import roles, space
    from headgate.features.runs.evidence import service as evidence
    from headgate.features.secrets import reads
    from headgate.features.testing import gate
    from headgate.features.triggers import transfer as trigger_transfer
    from headgate.features.workspace import workspace as workspaces
    from headgate.foundation import crypto, keyring
    from headgate.foundation.guarded_http import addresses, outgoing
else:
    installed = lazy_module("headgate.features.catalog.installed")
    search = lazy_module("headgate.features.catalog.search")
    store = lazy_module("headgate.features.catalog.own.store")
    data_keys = lazy_module("headgate.features.encryption.keys")
    opening = lazy_module("headgate.features.files.opening")
    rules = lazy_module("headgate.features.flows.rules")
    environment = lazy_module("headgate.features.flows.readiness.environment")
    classes = lazy_module("headgate.features.models.classes")
    providers = lazy_module("headgate.features.models.providers")
    local_models = lazy_module("headgate.features.models.local.models")
    evidence = lazy_module("headgate.features.runs.evidence.service")
    fetching = lazy_module("headgate.features.models.local.fetching")
    roles = lazy_module("headgate.features.models.setup.roles")
    space = lazy_module("headgate.features.models.setup.space")
    reads = lazy_module("headgate.features.secrets.reads")
    gate = lazy_module("headgate.features.testing.gate")
    trigger_transfer = lazy_module("headgate.features.triggers.transfer")
    workspaces = lazy_module("headgate.features.workspace.workspace")
    crypto = lazy_module("headgate.foundation.crypto")
    keyring = lazy_module("headgate.foundation.keyring")
    addresses = lazy_module("headgate.foundation.guarded_http.addresses")
    outgoing = lazy_module("headgate.foundation.guarded_http.outgoing")


class Installation:
    """The parts that a command needs to read or change rows. It starts no engine.

    Args:
        settings: The settings.
        database: The open, migrated database.
        telemetry: Metrics and traces of this process.
    """

    def __init__(self, settings: Settings, database: Database, telemetry: Telemetry = SILENT) -> None:
        self.settings = settings
        self.database = database
        self.telemetry = telemetry

    @cached_property
    def registry(self) -> "registry.Registry":
        """Every component: built-in and installed ones, and where custom ones are stored."""
        return installed.full_registry(store.OwnComponents(self.database), self.step_model)

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return the default model for steps of a space, as a model field holds it; None when not set."""
        return await self.variables_of(tenant_id, space_id, reads.NO_READS).step_model(session)

    @cached_property
    def index(self) -> "search.WordIndex":
        """The search index of components."""
        return search.component_index(self.registry)

    @cached_property
    def ring(self) -> "keyring.KeyRing":
        """The installation's keys. `load_keys` selects the current ones."""
        return keyring.KeyRing(self.settings)

    async def load_keys(self) -> None:
        """Read from the database which keys are the current ones. Raises `Unavailable`."""
        async with self.database.reading() as session:
            self.ring.use(await read_current(session))

    @cached_property
    def box(self) -> "crypto.SecretBox":
        """Encrypts variables."""
        return crypto.SecretBox(self.ring)

    @cached_property
    def data_keys(self) -> "data_keys.DataKeys":
        """Data keys of tenants, which encrypt files and conversations."""
        return data_keys.DataKeys(self.database, self.box, always=self.settings.storage.encrypt)

    @cached_property
    def storage(self) -> "storage.Storage":
        """Contents of files."""
        return opening.open_storage(self.settings, self.data_keys)

    @cached_property
    def local_models(self) -> "local_models.LocalModels":
        """Models that run in this process."""
        return local_models.LocalModels()

    @cached_property
    def local_fetches(self) -> "fetching.LocalFetches":
        """Local models that are being fetched."""
        return fetching.LocalFetches(self.local_models, self.settings.outgoing, self.settings.models.mirror)

    @cached_property
    def classes(self) -> "classes.ModelClasses":
        """Classifications of models."""
        return classes.ModelClasses(self.database, self.settings.classification, self.registry)

    @cached_property
    def rules(self) -> "rules.FlowRules":
        """Conditions for running and publishing a flow."""
        policy = addresses.AddressPolicy.of(self.settings.outgoing, self.settings.http.allowed_internal_cidrs)
        environments = environment.Environments(self.database, self.checks_of, self.classes, self.local_models, policy)
        return rules.FlowRules(self.registry, environments, lambda: (gate.TestsGate(),))

    @cached_property
    def notary(self) -> "evidence.Notary":
        """Signs evidence."""
        return evidence.Notary(
            self.box, self.evidence_signer, lambda principal: self.secret_reads.of(principal, "redaction")
        )

    @cached_property
    def evidence_signer(self) -> "crypto.EvidenceSigner":
        """Signs evidence and exports of the audit log."""
        return crypto.EvidenceSigner(self.ring)

    @cached_property
    def workspace(self) -> "workspaces.Workspace":
        """Files that agents keep for users."""
        return workspaces.Workspace(self.settings, self.telemetry.metrics)

    @cached_property
    def trigger_transfer(self) -> "trigger_transfer.TriggerTransfer":
        """trigger_transfer: Exports and imports triggers with their flow."""
        return trigger_transfer.TriggerTransfer(self.box)

    @cached_property
    def secret_reads(self) -> "reads.SecretReadLog":
        """Records reads of secrets outside of runs."""
        return reads.SecretReadLog(self.database)

    def variables_of(self, tenant_id: str, space_id: str, audit: "reads.ReadAudit") -> "space.SpaceModels":
        """The variables of a tenant's space and of the tenant; without a space, of the tenant alone.

        Reads of secrets are written into `audit`.
        """
        settings = self.settings
        return space.SpaceModels(
            self.database,
            self.box,
            tenant_id,
            space_id,
            listed=providers.PROVIDER_VARIABLES,
            open_to=outgoing.OPERATOR_NETWORKS if settings.server.auto_login else settings.http.allowed_internal_cidrs,
            audit=audit,
            outgoing=settings.outgoing,
            roles=roles.environment_roles(settings.models, settings.codev),
        )

    def assistant_keys(self, principal: Principal, session_id: str) -> "space.SpaceModels":
        """The variables that the assistant's models need."""
        return self.keys_of(principal, "assistant", session_id)

    def development_keys(self, principal: Principal, session_id: str = "") -> "space.SpaceModels":
        """The variables that the models and trials of a development session need."""
        return self.keys_of(principal, "development", session_id)

    def checks_of(self, tenant_id: str, space_id: str) -> "space.SpaceModels":
        """The same for checks, which read no secret."""
        return self.variables_of(tenant_id, space_id, reads.NO_READS)

    def keys_of(self, principal: Principal, purpose: "reads.Purpose", session_id: str = "") -> "space.SpaceModels":
        """The variables of the space that a user works in, read for a purpose, in a session of theirs."""
        return self.variables_of(
            principal.tenant_id, principal.space_id, self.secret_reads.of(principal, purpose, session_id)
        )


@asynccontextmanager
async def open_installation(settings: Settings, telemetry: Telemetry = SILENT) -> AsyncIterator[Installation]:
    """Open the database, migrating it; close it at the end."""
    async with open_database(settings) as database:
        installation = Installation(settings, database, telemetry)
        await installation.load_keys()
        yield installation


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database, migrating it; close it at the end."""
    database = Database(settings)
    try:
        await upgrade(database)
        yield database
    finally:
        await database.close()
