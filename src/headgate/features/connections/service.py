"""Adding, listing, changing and deleting connections."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.recorder import record_of
from headgate.features.connections import repository
from headgate.features.connections.errors import (
    AmbiguousConnection,
    BadConnection,
    ConnectionNameTaken,
    ConnectionNotFound,
)
from headgate.features.connections.kinds import Kind
from headgate.features.connections.presets import offered_kind
from headgate.features.connections.schemas import SpaceConnectionIn, SpaceConnectionOut, SpaceConnectionPatch
from headgate.features.connections.sealed import Secrets, seal, unseal
from headgate.features.connections.tables import ConnectionRow
from headgate.features.connections.values import check_name, check_secrets, checked_fields, kind_named
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id

MAX_CONNECTIONS = 500
"""Maximum connections of one space."""


async def add_connection(
    session: AsyncSession, principal: Principal, box: SecretBox, *, connection_in: SpaceConnectionIn
) -> ConnectionRow:
    """Add a connection. Nothing is sent yet.

    Raises `SpaceNotFound`, `PermissionMissing`, `BadConnection`, `BadUrl`, `HeaderRefused`, `ConnectionNameTaken`.
    """
    space = connection_in.space_id or principal.space_id
    await require_space(session, principal, space, permission_for(personal=connection_in.personal))
    kind = await offered_kind(session, connection_in.kind)
    if connection_in.personal and kind.ownership == "shared":
        raise BadConnection(f"{kind.label} belongs to a space.", remedy="Add it as a shared connection.")
    check_name(connection_in.name)
    _check_references(principal, kind, connection_in.secrets)
    check_secrets(kind, connection_in.secrets)
    rows = await repository.list_of_space(session, tenant_id=principal.tenant_id, space_id=space)
    if len(rows) >= MAX_CONNECTIONS:
        raise BadConnection(f"The space already has {MAX_CONNECTIONS} connections.", remedy="Delete one first.")
    row = ConnectionRow(
        id=new_id(),
        tenant_id=principal.tenant_id,
        space_id=space,
        owner_id=principal.user_id if connection_in.personal else None,
        name=connection_in.name,
        kind=kind.id,
        classification=connection_in.classification,
        max_concurrent=connection_in.max_concurrent,
        expires_at=connection_in.expires_at,
        status=_first_status(kind),
    )
    _write(row, kind, connection_in.fields, connection_in.secrets, box)
    row.created_at = row.updated_at
    session.add(row)
    await _flush(session, row)
    await record_of(session, principal, "connection.created", row, after=described(row))
    return row


async def list_connections(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None
) -> Sequence[ConnectionRow]:
    """Return the shared connections that the caller can view, and the caller's own ones, by name.

    Raises `SpaceNotFound`.
    """
    spaces = await spaces_shown(session, principal, space_id, Permission.CONNECTIONS_VIEW)
    return await repository.list_connections(
        session, tenant_id=principal.tenant_id, space_ids=spaces, user_id=principal.user_id
    )


async def get_connection(
    session: AsyncSession, principal: Principal, id_or_name: str, *, manage: bool = False, lock: bool = False
) -> ConnectionRow:
    """Return a connection that the caller can view, or with `manage` may change, by id or name.

    Of several with that name, the caller's own space has precedence, and there the caller's own connection.

    Raises `ConnectionNotFound`, `AmbiguousConnection`, `PermissionMissing`.
    """
    tenant, user = principal.tenant_id, principal.user_id
    row = await (
        repository.find(session, id_or_name, tenant_id=tenant, user_id=user, lock=lock)
        if is_id(id_or_name)
        else _find_named(session, principal, id_or_name, lock=lock)
    )
    if row is None or not principal.sees(row.space_id):
        rows = await repository.list_connections(
            session, tenant_id=tenant, space_ids=principal.visible_spaces, user_id=user
        )
        raise ConnectionNotFound(id_or_name, {known.name for known in rows})
    permission = permission_for(personal=row.owner_id is not None) if manage else Permission.CONNECTIONS_VIEW
    principal.require_in(row.space_id, permission, ConnectionNotFound(id_or_name))
    return row


async def update_connection(
    session: AsyncSession,
    principal: Principal,
    box: SecretBox,
    id_or_name: str,
    *,
    patch: SpaceConnectionPatch,
    replace_secrets: bool = False,
) -> ConnectionRow:
    """Change a connection. Its secrets and tokens are not kept for servers that it could not reach before.

    With `replace_secrets` it has only the secrets of the patch afterwards.

    Raises `ConnectionNotFound`, `PermissionMissing`, `BadConnection`, `ConnectionNameTaken`.
    """
    row = await get_connection(session, principal, id_or_name, manage=True, lock=True)
    kind, before = kind_named(row.kind), described(row)
    if patch.name is not None:
        check_name(patch.name)
        row.name = patch.name
    if patch.fields is not None or patch.secrets is not None:
        _check_references(principal, kind, patch.secrets or {})
        secrets = {**({} if replace_secrets else unseal(box, row.sealed)), **(patch.secrets or {})}
        check_secrets(kind, secrets)
        reach = kind.reach(row.fields)
        _write(row, kind, row.fields if patch.fields is None else patch.fields, secrets, box)
        moved = not kind.reach(row.fields) <= reach
        missing = set(row.secret_names) - set(patch.secrets or {})
        if missing and moved:
            raise BadConnection(
                f"The secrets of '{row.name}' were stored for other servers.",
                remedy=f"Give them again for the new address: {', '.join(sorted(missing))}.",
            )
        if moved:
            await repository.delete_token(session, row.id, tenant_id=row.tenant_id)
            row.rejected_at = None
        row.status, row.error_message = _first_status(kind) if moved or not kind.grant else row.status, None
    if "classification" in patch.model_fields_set:
        row.classification = patch.classification
    if "max_concurrent" in patch.model_fields_set:
        row.max_concurrent = patch.max_concurrent
    if "expires_at" in patch.model_fields_set:
        row.expires_at = patch.expires_at
    row.updated_at = now()
    await _flush(session, row)
    await record_of(session, principal, "connection.changed", row, before=before, after=described(row))
    return row


async def delete_connection(session: AsyncSession, principal: Principal, id_or_name: str) -> None:
    """Delete a connection with its tokens. Flows that name it fail when they run. Raises `ConnectionNotFound`."""
    row = await get_connection(session, principal, id_or_name, manage=True)
    await record_of(session, principal, "connection.deleted", row, before=described(row))
    await repository.delete_connection(session, row.id, tenant_id=principal.tenant_id)


async def find_usable(
    session: AsyncSession, name: str, *, tenant_id: str, space_id: str, user_id: str
) -> ConnectionRow:
    """Return the connection that a run uses for a name: that of the user who started it, else the space's.

    Raises `ConnectionNotFound` with the nearest name.
    """
    rows = await repository.list_connections(session, tenant_id=tenant_id, space_ids={space_id}, user_id=user_id)
    row = next((known for known in rows if known.name == name), None)
    if row is None:
        raise ConnectionNotFound(name, {known.name for known in rows})
    return row


def permission_for(*, personal: bool) -> Permission:
    """Return the permission to change a connection."""
    return Permission.CONNECTIONS_OWN if personal else Permission.CONNECTIONS_MANAGE


def described(row: ConnectionRow) -> Mapping[str, object]:
    """Return a connection's values for the audit log: names of its secrets, never their values."""
    about = {"name", "kind", "owner_id", "fields", "secret_names"}
    fields = about | {"hosts", "classification", "max_concurrent", "expires_at"}
    return SpaceConnectionOut.model_validate(row).model_dump(mode="json", include=fields)


async def _find_named(session: AsyncSession, principal: Principal, name: str, *, lock: bool) -> ConnectionRow | None:
    rows = await repository.list_connections(
        session,
        tenant_id=principal.tenant_id,
        space_ids=principal.visible_spaces,
        user_id=principal.user_id,
        name=name[:64],
        lock=lock,
    )
    here = [row for row in rows if row.space_id == principal.space_id]
    if here:
        return here[0]
    if len(rows) > 1:
        raise AmbiguousConnection(name, [row.id for row in rows])
    return rows[0] if rows else None


async def _flush(session: AsyncSession, row: ConnectionRow) -> None:
    try:
        await session.flush()
    except IntegrityError as error:
        raise ConnectionNameTaken(row.name) from error


def _write(row: ConnectionRow, kind: Kind, fields: Mapping[str, JsonValue], secrets: Secrets, box: SecretBox) -> None:
    row.fields = checked_fields(kind, fields)
    row.hosts = list(kind.hosts(row.fields))
    row.sealed = seal(box, secrets)
    row.secret_names = sorted(secrets)
    row.updated_at = now()


def _first_status(kind: Kind) -> str:
    return "unauthorized" if kind.grant in {"authorization_code", "device_code"} else "untested"


def _check_references(principal: Principal, kind: Kind, secrets: Secrets) -> None:
    """Raise `PermissionMissing` unless outside values and folders are named by an admin: they are the operator's."""
    if kind.admins_only or any(not hasattr(value, "get_secret_value") for value in secrets.values()):
        principal.require(Permission.VARIABLES_MANAGE)
