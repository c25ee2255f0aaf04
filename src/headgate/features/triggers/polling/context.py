"""The context in which components read a source: with the rights of an owner, outside of a run.

Triggers poll with it, and sources of knowledge bases are synchronised with it.

It offers what reading needs. Nothing that a component does here is an effect of a run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue

from headgate.features.access.principal import Principal
from headgate.features.connections.opening import Connections
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.circuits import CircuitHttp
from headgate.features.runs.steps.secrecy import SecretlessHttp
from headgate.features.secrets.reads import Purpose, SecretReadLog
from headgate.features.triggers.hooks.bodies import Upload
from headgate.features.workspace.places import owner_of
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.extras import require_extra
from headgate.foundation.ids import new_id
from headgate.foundation.secret_values import SecretValues
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.manifest import NOTHING
from headgate.sdk import Component, Connection, File, HttpClient, RunContext, WorkspaceTools


@dataclass(frozen=True, slots=True)
class Sources:
    """What polls read with."""

    services: Services
    connections: Connections
    reads: SecretReadLog
    workspace: Workspace


class PolledFiles:
    """Files that a component made of what it read; they are stored when a run receives them."""

    def __init__(self, secrets: SecretValues) -> None:
        self._secrets = secrets
        self.contents: dict[str, Upload] = {}
        """By id."""

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Keep a file until the poll has ended."""
        name, content = self._secrets.text(name), self._secrets.content(content)
        file = File(id=new_id(), name=name, media_type=media_type, size=len(content))
        self.contents[file.id] = Upload(name, media_type, content)
        return file


@dataclass(slots=True)
class PollContext:
    """The part of a `RunContext` that readers use.

    Args:
        sources: What is read with.
        owner: The owner of the trigger or source, with the rights of now.
        secrets: Receives the secret values that are read, which are removed from what is shown.
        with_unsettled: Whether what may be incomplete is read too.
        purpose: For what secrets are read, for the audit log.
        client: The client of requests without a connection; by default the guarded one.
    """

    sources: Sources
    owner: Principal
    secrets: SecretValues
    with_unsettled: bool = False
    purpose: Purpose = "trigger"
    client: HttpClient | None = None
    classification: int | None = None
    """The highest classification of the connections that were opened."""
    files: PolledFiles = field(init=False)

    def __post_init__(self) -> None:
        """Add the files."""
        self.files = PolledFiles(self.secrets)

    def reader(self, component: type[Component], **values: Any) -> Any:  # noqa: ANN401 - the component's own type
        """Return a component with its values, which reads in this context. Raises `ExtraNotInstalled`."""
        if component.needs_extra:
            require_extra(component.needs_extra, component.__name__)
        return component.create(values).attach(cast("RunContext", self))

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""
        return self._guarded(self.client or self.sources.services.http)

    def _guarded(self, http: HttpClient) -> HttpClient:
        circuits = self.sources.services.circuits
        if circuits is not None:
            http = CircuitHttp(http, circuits, self.owner.tenant_id)
        return SecretlessHttp(http, self.secrets)

    async def connection(self, reference: ConnectionReference) -> Connection:
        """Open the connection of the owner, else of the flow's space."""
        connection = await self.sources.connections.open(
            tenant_id=self.owner.tenant_id,
            space_id=self.owner.space_id,
            user_id=self.owner.user_id,
            name=reference.name,
            audit=self.sources.reads.of(self.owner, self.purpose),
        )
        connection.require_kind(reference)
        levels = [level for level in (self.classification, connection.classification) if level is not None]
        self.classification = max(levels, default=None)
        return replace(connection, http=self._guarded(connection.http))

    async def workspace(self, root_path: str = "", *, read_only: bool = True) -> WorkspaceTools:  # noqa: ARG002
        """The files of the owner's flows, which are only read."""
        return self.sources.workspace.for_flow(lambda: owner_of(self.owner), root_path=root_path, read_only=True)

    async def workspace_folder(self) -> Path:
        """The folder of the server that has those files. Raises `UserRequired`, `WorkspaceUnavailable`."""
        return await self.sources.workspace.for_flow(lambda: owner_of(self.owner), read_only=True).location()

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Process untrusted content in a process that ends with the call."""
        with self.sources.services.isolated.runner(self.owner.tenant_id) as runner:
            return await runner.call_host("", function, arguments, manifest=NOTHING, timeout_seconds=timeout_seconds)

    async def check_cancelled(self) -> None:
        """A poll is cancelled with its task."""

    def mark_outside(self, marks: Sequence[str]) -> None:
        """All that a poll finds is from outside: its occurrences say so."""

    def log(self, message: str, **details: JsonValue) -> None:
        """A poll has no log of steps."""
