"""Opened connections: what a component receives for the `ConnectionReference` in one of its fields.

class SendReport(Component):
    server: ConnectionReference = field(label="Server", help="...", connection_kinds=("smtp",))

    @output()
    async def sent(self) -> Data:
        connection = await self.ctx.connection(self.server)
        host = connection.text("host")
        address = await connection.address(host, connection.number("port"))
        ...
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, SecretStr

from headgate.foundation.errors import Forbidden, Invalid, NotFound
from headgate.foundation.guarded_http import LocalProxy
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.names import clipped, listed
from headgate.sdk.http import HttpClient

HTTP_KINDS = (
    *("api_key_header", "api_key_query", "basic", "bearer", "public_api"),
    *("oauth2_code", "oauth2_device", "oauth2_client"),
)
"""Kinds whose credential the HTTP client adds to requests."""
STORAGE_KINDS = ("s3", "gcs", "azure_blob", "sftp", "webdav", "local_folder")
"""Kinds with files: `headgate.components.storage` lists, reads, writes, moves and deletes them."""

SQL_KINDS = ("sql", "sql_file")
"""Kinds with a database: `headgate.components.sql` reads and writes its tables."""


class ConnectionRefused(Forbidden):
    """A server that is not one of the hosts of a connection."""

    code = "host_refused"
    title = "Host not allowed"


class ConnectionMismatch(Invalid):
    """The connection is of another kind than the field takes."""

    code = "connection_mismatch"
    title = "Connection of another kind"


@dataclass(frozen=True, slots=True)
class DescribedOperation:
    """An operation of the API of a connection, as its description declares it."""

    contract: Mapping[str, JsonValue]
    """`components.readers.api.description.Operation` as JSON."""
    changed: bool = False
    """Whether the description has changed since a user accepted it."""


async def undescribed(name: str) -> DescribedOperation:
    """Raise `NotFound`: the connection has no description of its API."""
    raise NotFound(f"The connection has no operation '{clipped(name, 100)}'.", remedy="Add a description of its API.")


def no_proxy(_most_bytes: int) -> AbstractAsyncContextManager[LocalProxy]:
    """Raise `ConnectionRefused`: the connection has no servers that a library could reach."""
    raise ConnectionRefused("The connection reaches no server over HTTP.")


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """A folder of the server that the operator opened for connections."""

    path: Path
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection that is open for one step. Its secrets are removed from everything that the run stores or shows."""

    name: str
    kind: str
    fields: Mapping[str, JsonValue]
    """Values that are no secret, by the field names of the kind: `host`, `port`, `url`."""
    hosts: tuple[str, ...]
    """The only servers that it may reach: origins such as `https://api.example.org`, `host:port`, `*.host:port`."""
    http: HttpClient
    """The guarded client: adds the credential of the connection, and reaches its hosts only."""
    resolve: Callable[[str, int], Awaitable[Sequence[str]]]
    """Returns the checked addresses of a server; see `address`."""
    secrets: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)
    """By field name. Never log one, and never put one into an output or an error."""
    classification: int | None = None
    """Highest classification of data that may be sent to it; None: as for every external service."""

    operation: Callable[[str], Awaitable[DescribedOperation]] = undescribed
    """Returns an operation by its method and path, or by its id. Raises `NotFound` with the nearest one."""
    proxy: Callable[[int], AbstractAsyncContextManager[LocalProxy]] = no_proxy
    """Opens a proxy to the hosts only, for libraries with their own HTTP client; argument: the bytes that may come."""
    folder: OpenedFolder | None = None
    """Of the kinds `local_folder` and `sql_file`."""
    id: str = ""
    max_concurrent: int | None = None
    """How many steps may use it at the same time; None: any number."""

    def require_kind(self, reference: ConnectionReference) -> None:
        """Raise `ConnectionMismatch` when the field that names this connection takes other kinds."""
        if reference.kinds and self.kind not in reference.kinds:
            raise ConnectionMismatch(
                f"The connection '{self.name}' is of the kind {self.kind}.",
                remedy=f"Choose a connection of the kind {listed(reference.kinds, most=10)}.",
            )

    def text(self, name: str, default: str = "") -> str:
        """Return the text of a field."""
        value = self.fields.get(name)
        return default if value is None or value == "" else str(value)

    def number(self, name: str, default: int = 0) -> int:
        """Return the number of a field."""
        value = self.fields.get(name)
        return int(value) if isinstance(value, int | float | str) and value != "" else default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return the truth value of a field."""
        value = self.fields.get(name)
        return value if isinstance(value, bool) else default

    def secret(self, name: str) -> str:
        """Return the value of a secret field; empty when it is not set."""
        value = self.secrets.get(name)
        return "" if value is None else value.get_secret_value()

    async def address(self, host: str, port: int) -> str:
        """Return an IP address to connect to, for libraries with their own connections. TLS names stay `host`.

        Raises `ConnectionRefused` when the server is not one of the hosts, and `Forbidden` when the installation does
        not allow its address.
        """
        server = f"{host.lower()}:{port}"
        if not any(server == known or (known[:2] == "*." and server.endswith(known[1:])) for known in self.hosts):
            raise ConnectionRefused(
                f"The connection '{self.name}' is not used for {server}: its hosts are {', '.join(self.hosts)}.",
                remedy="Set the host of the connection.",
            )
        return (await self.resolve(host, port))[0]

    def url(self, path: str) -> str:
        """Return a URL: a path is completed with the address of the connection, a complete URL is unchanged."""
        if "://" in path or not self.text("url"):
            return path
        return f"{self.text('url').rstrip('/')}/{path.lstrip('/')}" if path.strip("/") else self.text("url")
