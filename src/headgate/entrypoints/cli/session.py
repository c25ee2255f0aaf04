"""Opens Headgate's parts for one command, in this process: no server is needed."""

import asyncio
import getpass
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from headgate.entrypoints.cli.chosen import SPACE, TENANT
from headgate.entrypoints.compose import Parts, open_parts
from headgate.entrypoints.installation import Installation, open_installation
from headgate.features.access.principal import LOCAL, Actor, Principal
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id
from headgate.foundation.lazy import lazy_module
from headgate.foundation.log import configure
from headgate.foundation.settings import LogSettings, Settings

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from headgate.features.accounts.spaces import service as spaces
    from headgate.features.accounts.tenants import service as tenants
else:
    spaces = lazy_module("headgate.features.accounts.spaces.service")
    tenants = lazy_module("headgate.features.accounts.tenants.service")

T = TypeVar("T")
P = ParamSpec("P")
Opened = TypeVar("Opened", bound=Installation)
Quiet = Literal["error", "critical"]
"""The least severe log line that a command shows by itself."""
_ACTING: ContextVar[Principal] = ContextVar("acting")


def acting() -> Principal:
    """Return the principal of the command, once its parts are open: the operator, in the chosen tenant.

    They have the database, so they may do everything; the audit log names the operating system's user.
    """
    return _ACTING.get()


def operator() -> Actor:
    """Return the caller of the command, for the audit log."""
    try:
        return Actor("command", getpass.getuser())
    except (KeyError, OSError):  # a container's user that has a number and no name
        return Actor("command", "command line")


def with_parts(work: Callable[[Parts], Awaitable[T]], settings: Settings | None = None, *, quiet: Quiet = "error") -> T:
    """Open the parts with the engine, do the work, close them."""
    chosen = settings or Settings()
    return _run(open_parts(chosen), work, chosen, quiet)


def with_installation(work: Callable[[Installation], Awaitable[T]], settings: Settings | None = None) -> T:
    """Open the database, do the work, close it: for commands that run no flow. It takes half the time of the parts."""
    chosen = settings or Settings()
    return _run(open_installation(chosen), work, chosen, "error")


def on_installation(work: Callable[Concatenate[Installation, P], Awaitable[None]]) -> Callable[P, None]:
    """Make a command of a function whose first parameter is the installation, opened as by `with_installation`."""
    return _command(work, with_installation)


def on_parts(work: Callable[Concatenate[Parts, P], Awaitable[None]]) -> Callable[P, None]:
    """Make a command of a function whose first parameter is the parts, opened as by `with_parts`."""
    return _command(work, with_parts)


def _command(
    work: Callable[Concatenate[Opened, P], Awaitable[None]],
    open_for: Callable[[Callable[[Opened], Awaitable[None]]], None],
) -> Callable[P, None]:
    @wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        open_for(lambda opened: work(opened, *args, **kwargs))

    shown: Any = command  # Typer reads the options from the signature and the annotations
    opened, *options = signature(work).parameters.values()
    shown.__signature__ = signature(work).replace(parameters=options)
    shown.__annotations__ = {name: value for name, value in work.__annotations__.items() if name != opened.name}
    return command


def with_reading(call: Callable[["AsyncSession", Installation], Awaitable[T]]) -> T:
    """Return what a call reads, in a separate transaction."""

    async def work(installation: Installation) -> T:
        async with installation.database.reading() as session:
            return await call(session, installation)

    return with_installation(work)


def with_writing(call: Callable[["AsyncSession", Installation], Awaitable[T]]) -> T:
    """Return what a call returns once its changes are committed."""

    async def work(installation: Installation) -> T:
        async with installation.database.writing() as session:
            return await call(session, installation)

    return with_installation(work)


def _run(
    opening: AbstractAsyncContextManager[Opened],
    work: Callable[[Opened], Awaitable[T]],
    settings: Settings,
    quiet: Quiet,
) -> T:
    """Logs begin at `quiet` unless HEADGATE_LOG__LEVEL asks for more."""
    level = settings.log.level if "level" in settings.log.model_fields_set else quiet
    configure(LogSettings(level=level, format=settings.log.format))

    async def session() -> T:
        async with opening as opened:
            _ACTING.set(await _chosen(opened))
            return await work(opened)

    return asyncio.run(session())


async def _chosen(installation: Installation) -> Principal:
    tenant, space = TENANT.get() or installation.settings.tenant, SPACE.get()
    principal = replace(LOCAL, actor=operator())
    if not tenant and not space:
        return principal
    async with installation.database.reading() as session:
        if tenant:
            principal = await tenants.get_operator(session, operator(), tenant=tenant)
        if space:
            get_space = spaces.get_space if is_id(space) else spaces.get_space_named
            principal = replace(principal, space_id=(await get_space(session, principal, space)).id)
    return principal


def require_named(who: str, option: str) -> None:
    """Raise `Invalid` when sign-in is required and no user is named: the local user has no account there."""
    if not who and not Settings().server.auto_login:
        raise Invalid("With sign-in enabled, a user is required.", remedy=f"Add the user: {option} EMAIL.")
