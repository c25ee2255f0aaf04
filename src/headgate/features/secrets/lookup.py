"""Lookup of keys for components and models: variables of the space, of the organisation, then the environment."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import SecretStr

from headgate.features.secrets import service
from headgate.features.secrets.errors import VariableKept, VariableNotFound
from headgate.features.secrets.reads import ReadAudit, Source
from headgate.features.secrets.service import RESERVED_PREFIX
from headgate.features.secrets.tables import Variable
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.settings import OutgoingSettings


class Variables:
    """The variables that the flows of one space may use.

    A flow can name any variable, so only listed names are read from the environment, never Headgate's own settings, and
    never a URL with a password (a database's). Only values that the tenant stored, never those of the environment, are
    sent to a server that a flow chose.

    Args:
        database: The database of variables.
        secret_box: Decrypts them.
        tenant_id: The tenant.
        space_id: The space, whose variables have precedence over the organisation's; empty for the organisation's
            alone.
        audit: Records reads of secrets; `NO_READS` for checks.
        listed: Names that may be read from the environment.
        environment: The server's variables.
        open_to: Internal networks that the tenant's stored URLs may refer to.
        outgoing: The operator's proxy.
    """

    def __init__(
        self,
        database: Database,
        secret_box: SecretBox,
        tenant_id: str,
        space_id: str = "",
        *,
        audit: ReadAudit,
        listed: Collection[str] = (),
        environment: Mapping[str, str] = os.environ,
        open_to: Sequence[Network] = (),
        outgoing: OutgoingSettings,
    ) -> None:
        self.outgoing = outgoing
        self._database = database
        self._box = secret_box
        self._tenant_id = tenant_id
        self._space_id = space_id
        self._listed = frozenset(listed)
        self._environment = environment
        self._open_to = open_to
        self._audit = audit

    async def key(self, name: str) -> SecretStr | None:
        """The value of a variable; None when it does not exist. Raises `Unavailable` when it cannot be decrypted."""
        try:
            return await self._reveal(name)
        except VariableNotFound:
            value = self._from_environment(name)
        if value is not None:
            await self._audit.note(name, "server")
        return value

    async def available(self, names: Collection[str]) -> frozenset[str]:
        """Return those of the variables that have a value, without reading it."""
        async with self._database.reading() as session:
            stored = await service.names_in_use(session, names, tenant_id=self._tenant_id, space_id=self._space_id)
        return stored | {name for name in names if self._from_environment(name) is not None}

    async def note(self, name: str, source: Source) -> None:
        """Record the read of a value that is stored elsewhere, such as with a server."""
        await self._audit.note(name, source)

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:
        """Return the value of a variable for sending it to a flow's server; None when it does not exist.

        Args:
            name: The variable.
            url: The server's URL.
            bound: Whether it must be stored for that server; otherwise one without a server is sent too.

        Raises `VariableKept` when it exists and may not be sent.
        """
        origin = service.origin_of(url)
        try:
            return await self._reveal(name, origin=origin, bound=bound)
        except VariableNotFound:
            if self._from_environment(name) is None:
                return None
            raise VariableKept(name, origin) from None

    async def networks(self, name: str) -> Sequence[Network]:
        """Return internal networks that the URL in a variable may refer to: a stored one is the tenant's choice."""
        async with self._database.reading() as session:
            stored = await service.find_used(session, tenant_id=self._tenant_id, space_id=self._space_id, name=name)
        return OPERATOR_NETWORKS if stored is None else self._open_to

    async def require(self, name: str) -> SecretStr:
        """Return the value of a variable. Raises `VariableNotFound` with its name."""
        value = await self.key(name)
        if value is None:
            raise VariableNotFound(name)
        return value

    async def _reveal(self, name: str, *, origin: str | None = None, bound: bool = False) -> SecretStr:
        async with self._database.reading() as session:
            row = await service.find_sendable(
                session, tenant_id=self._tenant_id, space_id=self._space_id, name=name, origin=origin, bound=bound
            )
        return await service.reveal(row, self._box, self._audit)

    def _from_environment(self, name: str) -> SecretStr | None:
        if name.upper().startswith(RESERVED_PREFIX) or name not in self._listed:
            return None
        value = self._environment.get(name, "").strip()
        if not value or _holds_password(value):
            return None
        secret_values.read(value)
        return SecretStr(value)


class LoadedVariables:
    """A snapshot of variables, for checks. Does not query the database, and reads no secret.

    Args:
        rows: The stored ones, by name; the space's own have precedence.
        secret_box: Decrypts them.
        from_environment: The value of a listed variable of the server's environment.
        open_to: Internal networks that the tenant's stored URLs may refer to.
        outgoing: The operator's proxy.
        addresses: Variables with URLs, which checks read.
    """

    def __init__(
        self,
        rows: Mapping[str, Variable],
        secret_box: SecretBox,
        from_environment: Callable[[str], SecretStr | None],
        open_to: Sequence[Network],
        *,
        outgoing: OutgoingSettings,
        addresses: Collection[str] = (),
    ) -> None:
        self.outgoing = outgoing
        self._rows = rows
        self._box = secret_box
        self._from_environment = from_environment
        self._open_to = open_to
        self._addresses = addresses

    async def available(self, names: Collection[str]) -> frozenset[str]:
        """See `Variables.available`."""
        return frozenset(name for name in names if self.has(name))

    def has(self, name: str) -> bool:
        """Return whether it has a value."""
        return name in self._rows or self._from_environment(name) is not None

    async def key(self, name: str) -> SecretStr | None:
        """Return the value, `NOT_READ` for a secret; None when it does not exist."""
        row = self._rows.get(name)
        return self._from_environment(name) if row is None else self._checked(row)

    async def networks(self, name: str) -> Sequence[Network]:
        """See `Variables.networks`."""
        return self._open_to if name in self._rows else OPERATOR_NETWORKS

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:
        """See `Variables.key_for`."""
        origin, row = service.origin_of(url), self._rows.get(name)
        if row is None:
            if self._from_environment(name) is None:
                return None
            raise VariableKept(name, origin)
        service.refuse_other_server(row, origin, bound=bound)
        return self._checked(row)

    def _checked(self, row: Variable) -> SecretStr:
        return service.checked_value(row, self._box, self._addresses)


def _holds_password(value: str) -> bool:
    try:
        return "://" in value and urlsplit(value).password is not None
    except ValueError:  # unmatched brackets: not a usable URL
        return True
