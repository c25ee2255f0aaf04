"""Kombu's Redis transport, for workers that survive a restart of Redis.

When the connection to the broker is lost, the worker closes it, and each of its channels restores its unacknowledged
messages. A channel whose connection object is already closed then asks it for the server's address and gets None. The
resulting `AttributeError` is not handled and ends the worker (kombu 5.7, kombu issue 582). Raised as a lost connection,
it is handled, and the worker reconnects.
"""

from typing import Any

from kombu.transport.redis import Channel, Transport
from redis.exceptions import ConnectionError as RedisConnectionError


class SteadyChannel(Channel):
    """A channel that handles a closed connection."""

    _kept: Any = None
    """Its client."""

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - kombu's signature
        if self.connection is None or self.connection.client is None:
            raise RedisConnectionError("the connection to the broker was closed")
        parameters: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[no-untyped-call]
        return parameters

    def _create_client(self, asynchronous: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002
        """Return one client per pool, where Kombu creates one per command: creating it costs as much as the command."""
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[no-untyped-call]
        client = self._kept
        if client is None or client.connection_pool is not self.pool:
            client = self._kept = super()._create_client()  # type: ignore[no-untyped-call]
        return client


class SteadyTransport(Transport):
    """A transport with such channels."""

    Channel = SteadyChannel
