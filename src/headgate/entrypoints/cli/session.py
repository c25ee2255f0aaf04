"""Opens Headgate's parts for one command, in this process: no server is needed."""

import asyncio
import getpass
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Literal, TypeVar

from headgate.entrypoints.cli.chosen import SPACE, TENANT
from headgate.entrypoints.compose import Parts, open_parts
from headgate.features.access.principal import LOCAL, Actor, Principal
from headgate.features.accounts.spaces.service import get_space, get_space_named
from headgate.features.accounts.tenants.service import get_operator
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id
from headgate.foundation.log import configure
from headgate.foundation.settings import LogSettings, Settings

T = TypeVar("T")
_ACTING: ContextVar[Principal] = ContextVar("acting")


def acting() -> Principal:
    """Who the command acts as, once its parts are open: whoever keeps the installation, in the chosen tenant.

    They have the database, so they may do everything; the audit log names the operating system's user.
    """
    return _ACTING.get()


def operator() -> Actor:
    """Who called the command, for the audit log."""
    try:
        return Actor("command", getpass.getuser())
    except (KeyError, OSError):  # a container's user that has a number and no name
        return Actor("command", "command line")


def with_parts(
    work: Callable[[Parts], Awaitable[T]],
    settings: Settings | None = None,
    *,
    quiet: Literal["error", "critical"] = "error",
) -> T:
    """Open the parts, do the work, close them. Logs begin at `quiet` unless HEADGATE_LOG__LEVEL asks for more."""
    found = settings or Settings()
    level = found.log.level if "level" in found.log.model_fields_set else quiet
    configure(LogSettings(level=level, format=found.log.format))

    async def session() -> T:
        async with open_parts(found) as parts:
            _ACTING.set(await _chosen(parts))
            return await work(parts)

    return asyncio.run(session())


async def _chosen(parts: Parts) -> Principal:
    tenant, space = TENANT.get() or parts.settings.tenant, SPACE.get()
    found = replace(LOCAL, actor=operator())
    if not tenant and not space:
        return found
    async with parts.database.reading() as session:
        if tenant:
            found = await get_operator(session, operator(), tenant=tenant)
        if space:
            room = await (get_space if is_id(space) else get_space_named)(session, found, space)
            found = replace(found, space_id=room.id)
    return found


def require_named(who: str, option: str) -> None:
    """Raise `Invalid` when nobody is named where people sign in: the local user is nobody's account there."""
    if not who and not Settings().server.auto_login:
        raise Invalid("Where people sign in, this is somebody's.", remedy=f"Say whose: {option} EMAIL.")
