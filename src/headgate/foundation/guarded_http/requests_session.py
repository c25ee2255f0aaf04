"""Guard for libraries that use requests (OTLP, LangSmith): connects to checked addresses, no proxy, no redirects.

Imported with the libraries that depend on requests.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError
from urllib3.util.ssl_ import create_urllib3_context

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.addresses import AddressPolicy, Network
from headgate.foundation.guarded_http.checked_socket import connect_checked
from headgate.foundation.guarded_http.resolving import Resolver, system_resolver
from headgate.foundation.settings import OutgoingSettings

if TYPE_CHECKING:
    from socket import socket


def guarded_session(
    networks: Sequence[Network], outgoing: OutgoingSettings, *, resolver: Resolver = system_resolver
) -> requests.Session:
    """Return a session for public addresses and `networks` that ignores the environment and follows no redirects."""
    return _Session(_Adapter(AddressPolicy.of(outgoing, networks), resolver))


class _Session(requests.Session):
    """Follows no redirects and always connects through the guard."""

    def __init__(self, adapter: "_Adapter") -> None:
        self._guarded = adapter
        super().__init__()
        self.trust_env = False

    def get_adapter(self, *_: Any, **__: Any) -> "_Adapter":  # noqa: ANN401 - requests' signature
        """Return the guarded adapter, even when a library mounts its own: LangSmith's client does."""
        return self._guarded

    def resolve_redirects(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - requests' signature
        return iter(())


class _Adapter(HTTPAdapter):
    """Opens connections to checked addresses."""

    def __init__(self, policy: AddressPolicy, resolver: Resolver) -> None:
        self._classes = _pools(policy, resolver)
        self._tls = create_urllib3_context()
        policy.trust(self._tls)
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - requests' signature
        super().init_poolmanager(*arguments, **named, ssl_context=self._tls)
        self.poolmanager.pool_classes_by_scheme = self._classes

    def proxy_manager_for(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise requests.exceptions.ProxyError("Headgate does not use proxies from the environment.")


def _pools(policy: AddressPolicy, resolver: Resolver) -> dict[str, type[HTTPConnectionPool]]:
    """Return urllib3 pools whose connections check the policy first."""

    class Checked:
        def _new_conn(self) -> "socket":
            return _connect(self, policy, resolver)

    class Plain(Checked, HTTPConnection): ...

    class Encrypted(Checked, HTTPSConnection): ...

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}


def _connect(connection: Any, policy: AddressPolicy, resolver: Resolver) -> "socket":  # noqa: ANN401 - urllib3's
    host, port = connection.host.strip("[]"), connection.port
    try:
        return connect_checked(host, port, policy=policy, resolver=resolver)
    except HeadgateError as error:
        raise NewConnectionError(connection, str(error)) from error
