"""Entries of Redis streams over a connection of the kind `redis`. It reads only, and no consumer group is needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from socket import socket
from typing import TYPE_CHECKING, Any

from headgate.components.sockets import Bounded, Endpoint, encrypted, exchanged
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    from redis import connection as redis_connection
    from redis import exceptions
else:
    redis_connection = lazy_module("redis.connection")
    exceptions = lazy_module("redis.exceptions")

SECONDS = 30
BEGIN = "0-0"
"""Before every entry."""


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A message."""

    id: str
    """Its time in milliseconds and a number: `1767225600000-0`."""
    fields: Mapping[str, str]


async def read_stream(connection: Connection, name: str, *, after: str, most: int, subject: str) -> list[StreamEntry]:
    """Return the first entries after an id, in their order; none when there is no stream of that name.

    Raises `ComponentError`, `ExtraNotInstalled`, `Forbidden`, `UpstreamFailed`.
    """
    answer = await ask(connection, "XRANGE", name, f"({after}", "+", "COUNT", most, subject=subject)
    return [_entry(entry) for entry in answer]


async def last_id(connection: Connection, name: str, *, subject: str) -> str:
    """Return the id of the newest entry; `BEGIN` without one. Raises as `read_stream`."""
    answer = await ask(connection, "XREVRANGE", name, "+", "-", "COUNT", 1, subject=subject)
    return _entry(answer[0]).id if answer else BEGIN


async def ask(connection: Connection, *command: str | int, subject: str) -> Any:  # noqa: ANN401 - a reply of Redis
    """Send one command to the server of a connection and return its reply. Raises as `read_stream`."""
    require_extra("redis", subject)

    def exchange(endpoint: Endpoint, stream: socket) -> Any:  # noqa: ANN401
        return _exchange(connection, endpoint, stream, command, subject)

    return await exchanged(connection, exchange, seconds=SECONDS, subject=subject)


def _exchange(
    connection: Connection, endpoint: Endpoint, stream: socket, command: tuple[str | int, ...], subject: str
) -> Any:  # noqa: ANN401
    place = f"{endpoint.host}:{endpoint.port}"
    try:
        client = _client(connection, Bounded(encrypted(connection, endpoint, stream)))
        try:
            client.connect()
            client.send_command(*command)
            return client.read_response()
        finally:
            client.disconnect()
    except HeadgateError:
        raise
    except exceptions.AuthenticationError as error:
        raise UpstreamFailed(
            f"{subject}: {place} refused the user or the password.", remedy="Check the connection."
        ) from error
    except exceptions.ResponseError as error:
        raise ComponentError(
            f"{subject}: {place} refused the command: {clipped(str(error), 200)}.",
            remedy="Check the name of the stream and the rights of the user.",
        ) from error
    except Exception as error:  # a reply that is none, and every failure of the connection
        reason = clipped(" ".join(str(error).split()) or type(error).__name__, 200)
        raise UpstreamFailed(f"{subject}: {place} failed: {reason}.", remedy="Check the connection.") from error


def _client(connection: Connection, stream: Bounded) -> Any:  # noqa: ANN401 - the library has no types
    class Checked(redis_connection.Connection):
        """Uses a socket that is connected to the checked address."""

        def _connect(self) -> Any:  # noqa: ANN401
            return stream

    checked: Any = Checked
    return checked(
        db=connection.number("database"),
        username=connection.text("user") or None,
        password=connection.secret("password") or None,
        protocol=2,
        socket_timeout=SECONDS,
        encoding_errors="replace",
        decode_responses=True,
    )


def _entry(entry: Any) -> StreamEntry:  # noqa: ANN401
    """Return an entry of a reply. Raises `UpstreamFailed` for another shape."""
    match entry:
        case [str(id_), [*words]] if len(words) % 2 == 0 and all(isinstance(word, str) for word in words):
            pairs = zip(words[::2], words[1::2], strict=True)
            return StreamEntry(clipped(id_, 50), {clean_text(name): clean_text(value) for name, value in pairs})
        case _:
            raise UpstreamFailed("The server sent an entry that is none.", remedy="Check that it is a Redis server.")
