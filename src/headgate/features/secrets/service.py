"""Setting, listing, deleting and using variables."""

import re
from collections.abc import Collection, Sequence

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.recorder import record
from headgate.features.secrets import repository
from headgate.features.secrets.errors import BadVariable, VariableKept, VariableNotFound
from headgate.features.secrets.reads import ReadAudit
from headgate.features.secrets.tables import Variable
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.guarded_http import parse_target

MAX_VALUE_BYTES = 65_536
RESERVED_PREFIX = "HEADGATE_"
NOT_READ = SecretStr("(not read)")
"""Placeholder for a secret in checks."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)


async def set_variable(
    session: AsyncSession,
    principal: Principal,
    secret_box: SecretBox,
    *,
    name: str,
    value: SecretStr,
    secret: bool = True,
    hosts: Sequence[str] = (),
    space_id: str | None = None,
    organisation: bool = False,
) -> Variable:
    """Store a value under a name, encrypted; it replaces the previous value.

    It belongs to `space_id`, by default the caller's space, unless an admin sets it for the whole organisation. With
    `hosts` it is sent to those servers only.

    Raises `SpaceNotFound`, `PermissionMissing`, `BadVariable`, or `BadUrl` for an invalid host.
    """
    owner = await _owner(session, principal, space_id, organisation=organisation)
    _check_name(name)
    _check_value(name, value)
    before = _described(await repository.find_variable(session, name, tenant_id=principal.tenant_id, space_id=owner))
    row = await repository.save_variable(
        session,
        name,
        tenant_id=principal.tenant_id,
        space_id=owner,
        token=secret_box.encrypt(value),
        secret=secret,
        hosts=sorted({origin_of(host) for host in hosts}) or None,
        updated_at=now(),
    )
    after = _described(row)
    await record(
        session,
        principal,
        "variable.set",
        id=name,
        name=name,
        space_id=owner,
        before=before,
        after=after,
        payload=after,
    )
    return row


async def list_variables(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None
) -> Sequence[Variable]:
    """Return variables of the organisation and of the caller's visible spaces, or of one; values still encrypted.

    By name; a space's variable before the organisation's with the same name. Raises `SpaceNotFound`.
    """
    space_ids = await spaces_shown(session, principal, space_id, Permission.VARIABLES_VIEW)
    return await repository.list_variables(session, tenant_id=principal.tenant_id, space_ids=space_ids)


async def delete_variable(
    session: AsyncSession,
    principal: Principal,
    *,
    name: str,
    space_id: str | None = None,
    organisation: bool = False,
) -> None:
    """Delete a variable of a space, by default the caller's, or of the organisation.

    Raises `SpaceNotFound`, `PermissionMissing`, `VariableNotFound`.
    """
    owner = await _owner(session, principal, space_id, organisation=organisation)
    tenant = principal.tenant_id
    known = _is_name(name)
    row = await repository.find_variable(session, name, tenant_id=tenant, space_id=owner) if known else None
    before = _described(row)
    if row is None or not await repository.delete_variable(session, name, tenant_id=tenant, space_id=owner):
        raise VariableNotFound(name)
    await record(session, principal, "variable.deleted", id=name, name=name, space_id=owner, before=before)


async def secrets_of(
    session: AsyncSession, secret_box: SecretBox, audit: ReadAudit, *, tenant_id: str, space_id: str
) -> list[str]:
    """Return the values of every secret that flows of a space may use, for removing them from documents about runs."""
    rows = await repository.list_variables(session, tenant_id=tenant_id, space_ids={space_id})
    return [(await reveal(row, secret_box, audit)).get_secret_value() for row in rows if row.secret]


async def find_sendable(
    session: AsyncSession, *, tenant_id: str, space_id: str, name: str, origin: str | None = None, bound: bool = False
) -> Variable:
    """Return the variable for a name, still encrypted.

    Args:
        session: A session.
        tenant_id: The tenant.
        space_id: The space of its use: its own variable, else the organisation's. Empty: the organisation's.
        name: Its name.
        origin: The server to send it to; None when it is not sent.
        bound: Whether it must be stored for that server.

    Raises `VariableKept`, `VariableNotFound`.
    """
    row = await find_used(session, tenant_id=tenant_id, space_id=space_id, name=name)
    if row is None:
        raise VariableNotFound(name)
    if origin is not None:
        refuse_other_server(row, origin, bound=bound)
    return row


async def reveal(row: Variable, secret_box: SecretBox, audit: ReadAudit) -> SecretStr:
    """Return the value of a variable, for immediate use; never for an API response.

    The read of a secret is recorded before it is decrypted, in a separate transaction. Call it outside of a writing
    transaction. Raises `Unavailable` when the key is not the one that encrypted it.
    """
    if not row.secret:
        return secret_box.decrypt(row.token)
    await audit.note(row.name, "organisation" if row.space_id is None else "space")
    value = secret_box.decrypt(row.token)
    secret_values.read(value.get_secret_value())
    return value


def checked_value(row: Variable, secret_box: SecretBox, addresses: Collection[str]) -> SecretStr:
    """Return the value of a variable for checks: that of a plain one, and of a URL among `addresses`.

    For any other secret, only its existence is known.
    """
    if row.secret and row.name not in addresses:
        return NOT_READ
    value = secret_box.decrypt(row.token)
    if row.secret:
        secret_values.read(value.get_secret_value())
    return value


async def find_used(session: AsyncSession, *, tenant_id: str, space_id: str, name: str) -> Variable | None:
    """Return the variable that a flow of a space uses for a name: the space's own, else the organisation's."""
    if not _is_name(name):
        return None
    return await repository.find_used(session, name, tenant_id=tenant_id, space_id=space_id)


async def names_in_use(
    session: AsyncSession, names: Collection[str], *, tenant_id: str, space_id: str
) -> frozenset[str]:
    """Return those of the names under which the space or its organisation stores a variable."""
    allowed = [name for name in names if _is_name(name)]
    return await repository.names_in_use(session, allowed, tenant_id=tenant_id, space_id=space_id)


async def list_used(session: AsyncSession, *, tenant_id: str, space_id: str) -> dict[str, Variable]:
    """Return every variable that flows of a space use: the space's own, else the organisation's."""
    rows = await repository.list_variables(session, tenant_id=tenant_id, space_ids={space_id})
    used: dict[str, Variable] = {}
    for row in rows:
        used.setdefault(row.name, row)
    return used


def refuse_other_server(row: Variable, origin: str, *, bound: bool) -> None:
    """Raise `VariableKept` when a variable was stored for other servers; with `bound`, also when stored for none."""
    if origin not in (row.hosts or ()) and (row.hosts or bound):
        raise VariableKept(row.name, origin)


def origin_of(host: str) -> str:
    """Return scheme, host and port of a URL, or of a host name alone, which means https. Raises `BadUrl`."""
    return parse_target(host if "://" in host else f"https://{host}").origin


def _described(row: Variable | None) -> dict[str, object] | None:
    """Return a variable's values for the audit log: never its value or a digest of it."""
    if row is None:
        return None
    return {"name": row.name, "space_id": row.space_id, "hosts": row.hosts, "secret": row.secret}


async def _owner(
    session: AsyncSession, principal: Principal, space_id: str | None, *, organisation: bool
) -> str | None:
    """Return the space whose variables the caller may change; None for the organisation."""
    if organisation:
        principal.require(Permission.VARIABLES_MANAGE)
        return None
    space = principal.space_id if space_id is None else space_id
    await require_space(session, principal, space, Permission.SPACE_VARIABLES_MANAGE)
    return space


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def _check_name(name: str) -> None:
    if not _is_name(name):
        raise BadVariable(
            f"{name[:130]!r} is not a valid name of a variable.",
            remedy="Use at most 128 letters, digits and underscores, not starting with a digit.",
        )
    if name.upper().startswith(RESERVED_PREFIX):
        raise BadVariable(f"Names starting with {RESERVED_PREFIX} are reserved for Headgate's settings.")


def _check_value(name: str, value: SecretStr) -> None:
    try:
        size = len(value.get_secret_value().encode())
    except UnicodeEncodeError:
        raise BadVariable(f"The value of {name} is not valid Unicode.") from None  # the cause contains the value
    if not value.get_secret_value().strip():
        raise BadVariable(f"The value of {name} is empty.", remedy="Give a value, or delete the variable.")
    if size > MAX_VALUE_BYTES:
        raise BadVariable(f"The value of {name} is larger than {MAX_VALUE_BYTES} bytes.")
