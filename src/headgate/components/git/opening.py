"""Opens the repository of a connection for one step."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

from headgate.components.git.packs import BadPack
from headgate.components.git.repository import Repository, RepositoryMissing, RepositoryRefused
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.flow_threads import wait_in_flow_thread
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection

Result = TypeVar("Result")
MOST_RECEIVED = 250_000_000
"""How much the servers of a connection may send to one step."""
_PATH = re.compile(r"(?!.*\.\.)[\w.~+-]+(/[\w.~+-]+)*")
_CHECK = "Check the address of the connection, the name of the repository, and what the token may do."


@dataclass(frozen=True, slots=True)
class OpenedRepository:
    """A repository. Blocking work is done in a thread."""

    repository: Repository
    subject: str
    connection: str

    async def call(self, work: Callable[[Repository], Result]) -> Result:
        """Do something with the repository. Raises `ComponentError`, `UpstreamFailed`."""

        def guarded() -> Result:
            try:
                return work(self.repository)
            except HeadgateError:
                raise
            except RepositoryMissing as error:
                raise self._failed("the server has no such repository, or hides it") from error
            except RepositoryRefused as error:
                raise self._failed("the server refused user and token") from error
            except BadPack as error:
                raise ComponentError(
                    f"{self.subject}: the repository with the connection '{self.connection}' cannot be read: {error}.",
                    remedy="Choose a smaller repository, or a more specific pattern.",
                ) from error
            except Exception as error:  # the library has its own errors, and those of urllib3
                raise self._failed(" ".join(str(error).split()) or type(error).__name__) from error

        return await wait_in_flow_thread(guarded)

    def _failed(self, reason: str) -> UpstreamFailed:
        return UpstreamFailed(
            f"{self.subject}: the Git server of the connection '{self.connection}' failed: {clipped(reason, 200)}.",
            remedy=_CHECK,
        )


@asynccontextmanager
async def opened_repository(
    connection: Connection, repository: str, *, seconds: float, subject: str
) -> AsyncIterator[OpenedRepository]:
    """Open a repository for a block, at most for some seconds; then its connections are closed.

    Raises `ComponentError`, `ExtraNotInstalled`, `UpstreamFailed`.
    """
    require_extra("git", subject)
    url = address_of(connection, repository, subject=subject)
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(connection.proxy(MOST_RECEIVED))
        token = connection.secret("token")
        wire = _wire().GitWire(url, proxy, connection.text("user", "oauth2"), token, seconds)
        stack.callback(wire.close)
        try:
            async with asyncio.timeout(seconds):
                yield OpenedRepository(Repository(wire, subject), subject, connection.name)
        except TimeoutError as error:
            raise UpstreamFailed(
                f"{subject}: the Git server took longer than {seconds:g} seconds.", remedy="Try again later."
            ) from error


def path_of(repository: str, *, subject: str) -> str:
    """Return the path of a repository on its server, without an ending. Raises `ComponentError`."""
    path = repository.strip().strip("/").removesuffix(".git")
    if len(path) > 300 or (path and not _PATH.fullmatch(path)):
        raise ComponentError(
            f"{subject}: '{clipped(repository, 80)}' is not the path of a repository.",
            remedy="Write it as owner/name; the server is that of the connection.",
            field="repository",
        )
    return path


def address_of(connection: Connection, repository: str, *, subject: str) -> str:
    """Return the address of a repository; an empty path is the address of the connection. Raises `ComponentError`."""
    path_of(repository, subject=subject)
    url = connection.url(repository.strip().strip("/")).rstrip("/")
    hosted = connection.text("service", "other") != "other"
    return f"{url}.git" if hosted and not url.endswith(".git") else url


def _wire() -> ModuleType:
    from headgate.components.git import wire  # noqa: PLC0415 - heavy library

    return wire
