"""A key source of given values."""

from collections.abc import Collection, Sequence

from pydantic import SecretStr

from headgate.features.models.setup.values import NOTHING, ModelServer, ModelSetup, ServerAccess
from headgate.features.secrets.errors import VariableKept
from headgate.features.secrets.service import origin_of
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from tests.support.direct import DIRECT


class GivenKeys:
    """Serves what it was given and remembers what was asked for."""

    outgoing = DIRECT

    def __init__(self, **values: str) -> None:
        self._stored_for: dict[str, str] = {}
        self._values = values
        self.asked: list[str] = []
        self.queries = 0
        self._setup = NOTHING
        self._access: dict[str, ServerAccess] = {}

    async def key(self, name: str) -> SecretStr | None:
        self.asked.append(name)
        value = self._values.get(name)
        return SecretStr(value) if value is not None else None

    async def checks(self) -> "GivenKeys":
        return self

    async def available(self, names: Collection[str]) -> frozenset[str]:
        self.queries += 1
        return frozenset(self._values).intersection(names)

    def tied(self, name: str, origin: str) -> "GivenKeys":
        """With a variable that was stored for one server; all others are the server's own."""
        self._stored_for[name] = origin
        return self

    async def networks(self, name: str) -> Sequence[Network]:
        """Those of the operator: tests serve models on loopback."""
        return OPERATOR_NETWORKS

    def with_setup(self, setup: ModelSetup, **access: ServerAccess) -> "GivenKeys":
        """With what is set up, and the key and headers of its servers by name."""
        self._setup, self._access = setup, access
        return self

    async def setup(self) -> ModelSetup:
        return self._setup

    async def access(self, server: ModelServer) -> ServerAccess:
        return self._access.get(server.name, ServerAccess())

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:
        found = await self.key(name)
        if found is not None and (bound or name in self._stored_for) and self._stored_for.get(name) != origin_of(url):
            raise VariableKept(name, origin_of(url))
        return found
