"""Settings in, parts wired: what the server and the command line both stand on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from typing import Any

from headgate.agents.assistant.models import ModelChooser
from headgate.agents.assistant.service import Assistant
from headgate.components import BUILTINS
from headgate.entrypoints.adapters import TenantModels, TenantSecrets, VersionContents
from headgate.entrypoints.flow_runs import FlowRuns
from headgate.features.accounts.principal import Principal
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex, component_index
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.run_files import RunFiles
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import PROVIDER_VARIABLES
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.ports import Services
from headgate.features.secrets.lookup import Variables
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.events import EventBus
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import Settings
from headgate.sandbox.limits import Limits
from headgate.sandbox.pool import SandboxPool


@dataclass(frozen=True)
class Parts:
    """Everything an entry point serves, open."""

    settings: Settings
    database: Database
    registry: Registry
    index: WordIndex
    box: SecretBox
    storage: LocalStorage
    bus: EventBus
    engine: ExecutionBackend
    local_models: LocalModels
    runs: FlowRuns
    assistant: Assistant

    def variables_of(self, tenant_id: str) -> Variables:
        """The variables of a tenant."""
        return Variables(self.database, self.box, tenant_id, listed=PROVIDER_VARIABLES)

    def keys_of(self, principal: Principal) -> KeySource:
        """Where the keys of a person's models come from."""
        return self.variables_of(principal.tenant_id)

    def as_state(self) -> dict[str, Any]:
        """The parts by name, for the application's state."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"keys_of": self.keys_of}


@asynccontextmanager
async def open_parts(settings: Settings, *, recover: bool = False) -> AsyncIterator[Parts]:
    """Open the database (migrating it), the engine and the rest; close them in the opposite order.

    Args:
        settings: What is in force.
        recover: Take up runs that were queued or running when their process ended. The server does; a command does not.
    """
    database = Database(settings)
    try:
        await upgrade(database)
        async with _engine_and_rest(settings, database, recover=recover) as parts:
            yield parts
    finally:
        await database.close()


@asynccontextmanager
async def _engine_and_rest(settings: Settings, database: Database, *, recover: bool) -> AsyncIterator[Parts]:
    registry = Registry(BUILTINS)
    box, bus, local = SecretBox(settings), EventBus(), LocalModels()
    storage = LocalStorage(settings.data_dir / "files")
    http = GuardedHttp(settings.http)
    sandbox = SandboxPool(limits=_limits(settings), insecure=settings.sandbox.insecure)

    def variables_of(tenant_id: str) -> Variables:
        return Variables(database, box, tenant_id, listed=PROVIDER_VARIABLES)

    services = Services(
        components=registry,
        definitions=VersionContents(database),
        chat_models=TenantModels(variables_of, local, http.check),
        http=http,
        files=RunFiles(database, storage, settings.limits),
        secrets=TenantSecrets(variables_of),
        code=sandbox,
        bus=bus,
        limits=settings.limits,
        engine=settings.engine.model_copy(update={"recover_on_start": recover}),
    )
    engine = build_engine(settings, database, services)
    await engine.open()
    try:
        runs = FlowRuns(database=database, engine=engine, bus=bus)
        index = component_index(registry)
        chooser = ModelChooser(settings.models, lambda principal: variables_of(principal.tenant_id), local)
        assistant = Assistant(database=database, registry=registry, index=index, models=chooser, runs=runs)
        yield Parts(settings, database, registry, index, box, storage, bus, engine, local, runs, assistant)
    finally:
        await engine.close()
        await sandbox.aclose()
        await http.close()
        local.close()


def _limits(settings: Settings) -> Limits:
    seconds = settings.sandbox.timeout_seconds
    memory = settings.sandbox.memory_mb * 1024 * 1024
    return Limits(memory_bytes=memory, wall_seconds=seconds, processor_seconds=seconds)
