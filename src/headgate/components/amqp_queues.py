"""Messages of AMQP 0-9-1 queues (RabbitMQ and compatible) over a connection of the kind `amqp`.

A message stays in its queue until it is acknowledged: what is only read goes back when the connection closes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from socket import socket
from typing import TYPE_CHECKING, Any, TypeVar

from headgate.components.sockets import Bounded, Endpoint, encrypted, exchanged
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import amqp
    from amqp import exceptions, transport
else:
    amqp = lazy_module("amqp")
    exceptions = lazy_module("amqp.exceptions")
    transport = lazy_module("amqp.transport")

Result = TypeVar("Result")
SECONDS = 30
_MOST_ACKNOWLEDGED = 1_000
"""How far into a queue a message that is acknowledged is looked for."""


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """A message of a queue."""

    id: str
    """As its sender named it; empty when it has no `message_id`."""
    routing_key: str
    headers: Mapping[str, str | int | float | bool | None]
    content_type: str
    body: bytes


async def read_queue(connection: Connection, queue: str, *, most: int, subject: str) -> list[QueueMessage]:
    """Return the first messages of a queue, and leave them there.

    Raises `ComponentError`, `ExtraNotInstalled`, `Forbidden`, `UpstreamFailed`.
    """

    def read(channel: Any) -> list[QueueMessage]:  # noqa: ANN401 - the library has no types
        return [message for message, _ in _messages(channel, queue, most)]

    return await _within(connection, read, subject)


async def acknowledge(
    connection: Connection, queue: str, keys: Sequence[str], key_of: Callable[[QueueMessage], str], *, subject: str
) -> None:
    """Remove the messages with these keys from a queue; those that are gone are no error. Raises as `read_queue`."""

    def remove(channel: Any) -> None:  # noqa: ANN401
        left = set(keys)
        for message, tag in _messages(channel, queue, _MOST_ACKNOWLEDGED):
            key = key_of(message)
            if key in keys:
                channel.basic_ack(tag)
                left.discard(key)
            if not left:
                break

    await _within(connection, remove, subject)


async def sign_in(connection: Connection, *, subject: str) -> None:
    """Sign in to the server of a connection, and out. Raises as `read_queue`."""
    await _within(connection, lambda _: None, subject)


def _messages(channel: Any, queue: str, most: int) -> Iterator[tuple[QueueMessage, int]]:  # noqa: ANN401
    for _ in range(most):
        message = channel.basic_get(queue)
        if message is None:
            return
        headers = message.properties.get("application_headers") or {}
        yield (
            QueueMessage(
                _text(message.properties.get("message_id", "")),
                _text(message.delivery_info.get("routing_key", "")),
                {_text(name): _plain(value) for name, value in headers.items()},
                _text(message.properties.get("content_type", "")),
                message.body if isinstance(message.body, bytes) else str(message.body).encode(),
            ),
            message.delivery_tag,
        )


async def _within(connection: Connection, work: Callable[[Any], Result], subject: str) -> Result:
    """Do something with a channel, in a thread of flows."""
    require_extra("amqp", subject)

    def exchange(endpoint: Endpoint, stream: socket) -> Result:
        return _exchange(connection, endpoint, stream, work, subject)

    return await exchanged(connection, exchange, seconds=SECONDS, subject=subject)


def _exchange(
    connection: Connection, endpoint: Endpoint, stream: socket, work: Callable[[Any], Result], subject: str
) -> Result:
    with _explained(f"{endpoint.host}:{endpoint.port}", subject):
        client = _client(connection, Bounded(encrypted(connection, endpoint, stream)))
        try:
            client.connect()
            channel = amqp.Channel(client, auto_decode=False)
            channel.open()
            result = work(channel)
            client.close()
            return result
        finally:
            client.collect()


@contextmanager
def _explained(place: str, subject: str) -> Iterator[None]:
    """Raise the errors of the library as ours."""
    try:
        yield
    except HeadgateError:
        raise
    except exceptions.NotFound as error:
        raise ComponentError(
            f"{subject}: {place} has no such queue: {_reason(error)}.", remedy="Check the name of the queue."
        ) from error
    except exceptions.AccessRefused as error:
        raise UpstreamFailed(
            f"{subject}: {place} refused the user, the password or the rights: {_reason(error)}.",
            remedy="Check the connection, and the rights of the user on the queue.",
        ) from error
    except Exception as error:  # an answer that is none, and every failure of the connection
        raise UpstreamFailed(f"{subject}: {place} failed: {_reason(error)}.", remedy="Check the connection.") from error


def _reason(error: Exception) -> str:
    text = getattr(error, "reply_text", None) or str(error) or type(error).__name__
    return clipped(" ".join(_text(text).split()).rstrip("."), 200)


def _client(connection: Connection, stream: Bounded) -> Any:  # noqa: ANN401
    class Checked(transport.TCPTransport):  # type: ignore[misc]
        """Uses a socket that is connected to the checked address."""

        def _connect(self, *_: object) -> None:
            self.sock = stream

        def _init_socket(self, *_: object) -> None:
            self._setup_transport()
            self._write(transport.AMQP_PROTOCOL_HEADER)

    class Client(amqp.Connection):  # type: ignore[misc]
        """A connection over that socket."""

        def Transport(self, host: str, *_: object, **__: object) -> Any:  # noqa: ANN401, N802 - the library's name
            return Checked(host)

    return Client(
        userid=connection.text("user"),
        password=connection.secret("password"),
        login_method="PLAIN",
        virtual_host=connection.text("virtual_host") or "/",
    )


def _text(value: object) -> str:
    return clean_text(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))


def _plain(value: object) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, bool | int | float) else _text(value)
