"""Authorizing MCP servers by OAuth 2.1: a server becomes an OAuth 2 connection, which signs its requests."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, bringing
from headgate.features.connections import service as connections
from headgate.features.connections.manage import ConnectionManager
from headgate.features.connections.schemas import AuthorizationOut, SpaceConnectionIn, SpaceConnectionPatch
from headgate.features.connections.tables import ConnectionRow
from headgate.features.mcptools import service
from headgate.features.mcptools.errors import BadMcpServer, McpMissing, McpNotAuthorizable, McpServerNotFound
from headgate.features.mcptools.programs import ProgramRules
from headgate.features.mcptools.schemas import McpAuthorization, McpServerPatch
from headgate.features.mcptools.tables import McpServerRow
from headgate.foundation.guarded_http.credential import is_host_of
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import listed

if TYPE_CHECKING:  # imported when the first server is authorized
    from headgate.features.mcptools import discovery
else:
    discovery = lazy_module("headgate.features.mcptools.discovery")

KIND = "oauth2_code"


@dataclass(frozen=True, slots=True)
class ServerAuthorizations:
    """Authorizes MCP servers.

    Args:
        manager: Authorizes connections; its client sends the requests to providers.
        settings: Settings of MCP.
    """

    manager: ConnectionManager
    programs: ProgramRules

    async def start(
        self, principal: Principal, id_or_name: str, how: McpAuthorization, redirect_uri: str
    ) -> AuthorizationOut:
        """Find the authorization server, register Headgate there, and begin an authorization in the browser.

        A connection with the name of the server holds the outcome; the server sends its token from then on.

        Raises `McpServerNotFound`, `BadMcpServer`, `McpNotAuthorizable`, `McpServerFailed`, `ConnectionNameTaken`.
        """
        async with self.manager.connections.database.reading() as session:
            row = await service.get_server(session, principal, id_or_name)
            _require_permitted(principal, row, personal=how.personal)
            self._require_possible(row)
            existing = await self._existing(session, principal, row, personal=how.personal)
        if existing is None or how.register_again or how.client_id:
            values = await self._registered(row, how, redirect_uri)
            existing = await self._stored(principal, row, existing, values, personal=how.personal)
        if not row.connection:
            opener, named = self.manager.connections, McpServerPatch(connection=existing.name)
            async with opener.database.writing() as session:
                await service.update_server(session, principal, opener.box, self.programs, row.id, patch=named)
        return await self.manager.authorizations.start(principal, existing, redirect_uri)

    async def _registered(self, row: McpServerRow, how: McpAuthorization, redirect_uri: str) -> SpaceConnectionPatch:
        """Return the values of the connection: the provider's addresses, and a client. No transaction is open."""
        try:
            authority = await discovery.find_authority(self.manager.http, row.url, scopes=how.scopes)
            client = (
                discovery.Client(how.client_id, how.client_secret.get_secret_value())
                if how.client_id
                else await discovery.register(self.manager.http, authority, redirect_uri=redirect_uri)
            )
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
                raise
            raise McpMissing(
                "The MCP client package is not installed.", remedy="Install it: pip install 'headgate[mcp]'."
            ) from error
        except ValidationError as error:
            raise McpNotAuthorizable(
                f"The metadata of the MCP server '{row.name}' cannot be used.", remedy="Ask the operator of the server."
            ) from error
        return SpaceConnectionPatch(
            fields=authority.fields(row.url, client),
            secrets={"client_secret": SecretStr(client.secret)} if client.secret else {},
            expires_at=client.expires_at,
        )

    async def _stored(
        self,
        principal: Principal,
        row: McpServerRow,
        existing: ConnectionRow | None,
        values: SpaceConnectionPatch,
        *,
        personal: bool,
    ) -> ConnectionRow:
        """Add the connection, or change it: other fields stay, secrets of an earlier client do not."""
        opener = self.manager.connections
        async with opener.database.writing() as session:
            if existing is not None:
                values.fields = {**existing.fields, **(values.fields or {})}
                return await connections.update_connection(
                    session, principal, opener.box, existing.id, patch=values, replace_secrets=True
                )
            added = SpaceConnectionIn(
                name=row.connection or row.name,
                kind=KIND,
                space_id=row.space_id,
                personal=personal,
                fields=values.fields or {},
                secrets=values.secrets or {},
                expires_at=values.expires_at,
            )
            return await connections.add_connection(session, principal, opener.box, connection_in=added)

    async def _existing(
        self, session: AsyncSession, principal: Principal, row: McpServerRow, *, personal: bool
    ) -> ConnectionRow | None:
        """Return the connection of the server, of the space or of the user.

        Raises `BadMcpServer` for another kind, and for one with the server's name that is for another service.
        """
        name = row.connection or row.name
        looking = bringing(principal, Permission.CONNECTIONS_VIEW)
        rows = await connections.list_connections(session, looking, space_id=row.space_id)
        existing = next((known for known in rows if known.name == name and bool(known.owner_id) == personal), None)
        if existing is not None and existing.kind != KIND:
            raise BadMcpServer(
                f"The connection '{name}' is not an OAuth 2 connection.",
                remedy=f"Rename it, or name another one at the MCP server '{row.name}'.",
            )
        if existing is not None and not row.connection and not is_host_of(parse_target(row.url), existing.hosts):
            raise BadMcpServer(
                f"The connection '{name}' is for another server: {listed(existing.hosts)}.",
                remedy=f"Rename it, or name another one at the MCP server '{row.name}'.",
            )
        return existing

    def _require_possible(self, row: McpServerRow) -> None:
        if row.transport != "http":
            raise BadMcpServer(
                f"The MCP server '{row.name}' is a program, which is not authorized by OAuth.",
                remedy="Give it the environment variables that it needs.",
            )
        if any(name.lower() == "authorization" for name in row.secret_names):
            raise BadMcpServer(
                f"The MCP server '{row.name}' has an Authorization header.", remedy="Remove the header first."
            )


def _require_permitted(principal: Principal, row: McpServerRow, *, personal: bool) -> None:
    """Raise `PermissionMissing` before anything is sent. An own authorization changes nothing for others.

    The first authorization names the connection at the server, which is a change of the server.
    """
    hidden = McpServerNotFound(row.name)
    if not (personal and row.connection):
        principal.require_in(row.space_id, Permission.MCP_SERVERS_MANAGE, hidden)
    principal.require_in(row.space_id, connections.permission_for(personal=personal), hidden)
