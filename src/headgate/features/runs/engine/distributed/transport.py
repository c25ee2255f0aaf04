"""Kombu's Redis transport, for workers that outlive their Redis.

When the connection to the broker is lost, the worker closes it, and each of its channels hands back what was not
acknowledged. A channel whose connection object is closed already then asks it for the server's address and meets None:
an `AttributeError`, which nobody expects there, ends the worker (kombu 5.7, and kombu issue 582). Told as what it is, a
lost connection, it is expected, and the worker connects again.
"""

from typing import Any

from kombu.transport.redis import Channel, Transport
from redis.exceptions import ConnectionError as RedisConnectionError


class SteadyChannel(Channel):
    """A channel that knows when its connection is gone."""

    _kept: Any = None
    """Its client."""

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - kombu's signature
        if self.connection is None or self.connection.client is None:
            raise RedisConnectionError("the connection to the broker was closed")
        found: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[no-untyped-call]
        return found

    def _create_client(self, asynchronous: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002
        """One client a pool, where Kombu makes one a command: making it costs as much as the command."""
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[no-untyped-call]
        kept = self._kept
        if kept is None or kept.connection_pool is not self.pool:
            kept = self._kept = super()._create_client()  # type: ignore[no-untyped-call]
        return kept


class SteadyTransport(Transport):
    """Makes such channels."""

    Channel = SteadyChannel
