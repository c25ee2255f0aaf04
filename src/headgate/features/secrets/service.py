"""Setting, listing, removing and using variables."""

import re
from collections.abc import Sequence

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.secrets import repository
from headgate.features.secrets.errors import BadVariable, VariableKept, VariableNotFound
from headgate.features.secrets.tables import Variable
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.guarded_http import parse_target

MAX_VALUE_BYTES = 65_536
RESERVED_PREFIX = "HEADGATE_"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)


async def set_variable(
    session: AsyncSession,
    principal: Principal,
    box: SecretBox,
    *,
    name: str,
    value: SecretStr,
    secret: bool = True,
    hosts: Sequence[str] = (),
) -> Variable:
    """Keep a value under a name, encrypted, in place of the one before.

    With `hosts` it is sent to those servers only. Raises `BadVariable`, or `BadUrl` for a host that is none.
    """
    _check_name(name)
    _check_value(name, value)
    before = _described(await repository.find_variable(session, name, tenant_id=principal.tenant_id))
    row = await repository.save_variable(
        session,
        name,
        tenant_id=principal.tenant_id,
        token=box.encrypt(value),
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
        before=before,
        after=after,
        payload=after,
    )
    return row


async def list_variables(session: AsyncSession, principal: Principal) -> Sequence[Variable]:
    """The tenant's variables by name, values still encrypted."""
    return await repository.list_variables(session, tenant_id=principal.tenant_id)


async def delete_variable(session: AsyncSession, principal: Principal, *, name: str) -> None:
    """Remove a variable. Raises `VariableNotFound`."""
    row = await repository.find_variable(session, name, tenant_id=principal.tenant_id) if _is_name(name) else None
    before = _described(row)
    if row is None or not await repository.delete_variable(session, name, tenant_id=principal.tenant_id):
        raise VariableNotFound(name)
    await record(session, principal, "variable.deleted", id=name, name=name, before=before)


async def reveal_variable(
    session: AsyncSession, box: SecretBox, *, tenant_id: str, name: str, origin: str | None = None, bound: bool = False
) -> SecretStr:
    """The value, for the one place that uses it; never for an answer of the API.

    Args:
        session: A session.
        box: Decrypts it.
        tenant_id: Whose variable.
        name: Its name.
        origin: The server it is to be sent to; None when it stays here.
        bound: Whether it goes to no server that it was not stored for.

    Raises `VariableKept`, `VariableNotFound`, or `Unavailable` when the key is not the one that encrypted it.
    """
    row = await repository.find_variable(session, name, tenant_id=tenant_id) if _is_name(name) else None
    if row is None:
        raise VariableNotFound(name)
    if origin is not None and origin not in (row.hosts or ()) and (row.hosts or bound):
        raise VariableKept(name, origin)
    value = box.decrypt(row.token)
    if row.secret:
        secret_values.read(value.get_secret_value())
    return value


def origin_of(host: str) -> str:
    """Scheme, host and port of an address, or of a host's name alone, which means https. Raises `BadUrl`."""
    return parse_target(host if "://" in host else f"https://{host}").origin


def _described(row: Variable | None) -> dict[str, object] | None:
    """A variable as the audit log may know it: never its value, and no digest of it."""
    return None if row is None else {"name": row.name, "hosts": row.hosts, "secret": row.secret}


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def _check_name(name: str) -> None:
    if not _is_name(name):
        raise BadVariable(
            f"{name[:130]!r} is not a name for a variable.",
            remedy="Use up to 128 letters, digits and underscores, not beginning with a digit.",
        )
    if name.upper().startswith(RESERVED_PREFIX):
        raise BadVariable(f"Names that begin with {RESERVED_PREFIX} are Headgate's own settings.")


def _check_value(name: str, value: SecretStr) -> None:
    try:
        size = len(value.get_secret_value().encode())
    except UnicodeEncodeError:
        raise BadVariable(f"The value of {name} is not valid Unicode.") from None  # the cause holds the value
    if size == 0:
        raise BadVariable(f"The value of {name} is empty.", remedy="Give a value, or delete the variable.")
    if size > MAX_VALUE_BYTES:
        raise BadVariable(f"The value of {name} is larger than {MAX_VALUE_BYTES} bytes.")
