"""Authorisation of directory requests, and serialisation of directory changes."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.directory import repository
from headgate.features.accounts.directory.errors import DirectoryTokenRefused
from headgate.features.accounts.directory.tables import Directory
from headgate.features.accounts.keys.errors import NetworkRefused
from headgate.features.accounts.keys.networks import is_within
from headgate.features.accounts.keys.secret import DIRECTORY_MARK, hash_of, is_key
from headgate.foundation.database import Database, now

ACTOR = "Directory (SCIM)"
"""Actor name in the audit log."""
_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class DirectoryConnection:
    """An authenticated directory."""

    principal: Principal
    token_hash: str


async def connect(database: Database, tokens: frozenset[str], address: str | None) -> DirectoryConnection:
    """Return the directory of the token in the request. Raises `DirectoryTokenRefused`, `NetworkRefused`."""
    token = next(iter(tokens)) if len(tokens) == 1 else ""
    if not is_key(token, DIRECTORY_MARK):
        raise DirectoryTokenRefused
    token_hash = hash_of(token)
    async with database.reading() as session:
        directory = await repository.find_by_token(session, token_hash)
    if directory is None:
        raise DirectoryTokenRefused
    if directory.networks is not None and not is_within(address, directory.networks):
        raise NetworkRefused(directory.prefix or "", address)
    await _note_use(database, directory, address)
    return DirectoryConnection(_principal(directory, address), token_hash)


async def hold(session: AsyncSession, connected: DirectoryConnection) -> Principal:
    """Begin a change: no other change of the directory runs until the transaction ends.

    Raises `DirectoryTokenRefused` when the token was replaced or revoked in the meantime.
    """
    directory = await repository.hold_directory(session, tenant_id=connected.principal.tenant_id)
    if directory.token_hash != connected.token_hash:
        raise DirectoryTokenRefused
    directory.last_change_at = now()
    return connected.principal


async def _note_use(database: Database, directory: Directory, address: str | None) -> None:
    """Record a use of the token, at most once a minute."""
    at = now()
    if directory.last_used_at is not None and at - directory.last_used_at < _NOTED_EVERY:
        return
    async with database.writing() as session:
        locked = await repository.hold_directory(session, tenant_id=directory.tenant_id)
        if locked.token_hash == directory.token_hash:
            locked.last_used_at, locked.last_used_address = at, address


def _principal(directory: Directory, address: str | None) -> Principal:
    return Principal(
        tenant_id=directory.tenant_id,
        user_id="",
        space_id="",
        access=Access(admin=True),
        actor=Actor("system", ACTOR, key_id=directory.token_id, key_prefix=directory.prefix, address=address),
    )
