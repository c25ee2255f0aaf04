"""What the models feature needs from others: keys, and a guarded way to the addresses a flow names."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue, SecretStr

from headgate.features.models.setup.values import NOTHING, ModelServer, ModelSetup, ServerAccess
from headgate.features.secrets.errors import VariableKept
from headgate.features.secrets.service import origin_of
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.sdk.calls import CallRequest, CallResult

if TYPE_CHECKING:  # named without importing the HTTP library
    from headgate.foundation.guarded_http.transport import SharedTransport


class KeySource(Protocol):
    """Where keys and provider settings come from: the asker's encrypted variables first, then the environment."""

    async def key(self, name: str) -> SecretStr | None:
        """The value of the variable of that name; None when it is nowhere."""
        ...

    async def networks(self, name: str) -> Sequence[Network]:
        """Internal networks that the address in a variable may lead to.

        An address of the environment is the operator's own choice, one that was stored is a tenant's.
        """
        ...

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:
        """The value, to be sent to a server that a flow chose; None when it is nowhere.

        Raises `Forbidden` when it is there and was not stored for that server; unless `bound`, one that was stored for
        no server in particular is given.
        """
        ...

    async def setup(self) -> ModelSetup:
        """What is set up for the space: servers by name, facts about models, models of roles."""
        ...

    async def access(self, server: ModelServer) -> ServerAccess:
        """The key and headers of a server. Raises `Forbidden` for a secret that may not go there, `KeyMissing`."""
        ...


class GuardedWeb(Protocol):
    """The way to every server of models."""

    async def check(self, url: str) -> None:
        """Return when it may be called; raise `Forbidden` naming the address when it may not."""
        ...

    def library_transport(self, networks: Sequence[Network] | None = None) -> "SharedTransport":
        """What a provider's library sends its requests through: resolved, checked and connected like a flow's.

        Args:
            networks: Internal networks that are open; None for those that flows may reach.
        """
        ...


class EnvironmentKeys:
    """Keys from environment variables only.

    Args:
        names: Variables it may serve. A flow can name the variable its key is in, so the rest of the server's
            environment stays out of reach.
        environment: The variables, by name; pass `os.environ`.
    """

    def __init__(self, names: Collection[str], environment: Mapping[str, str]) -> None:
        self._names = frozenset(names)
        self._environment = environment

    async def key(self, name: str) -> SecretStr | None:
        """The value of an allowed variable that is set and not blank."""
        value = self._environment.get(name, "").strip() if name in self._names else ""
        return SecretStr(value) if value else None

    async def networks(self, name: str) -> Sequence[Network]:  # noqa: ARG002
        """Those of the operator's own servers."""
        return OPERATOR_NETWORKS

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:  # noqa: ARG002
        """None, or a refusal: the server's own keys go to no server that a flow chose."""
        if await self.key(name) is None:
            return None
        raise VariableKept(name, origin_of(url))

    async def setup(self) -> ModelSetup:
        """Nothing: the environment names no servers."""
        return NOTHING

    async def access(self, server: ModelServer) -> ServerAccess:  # noqa: ARG002
        """Nothing."""
        return ServerAccess()


class CallLog(Protocol):
    """Answered calls of a step."""

    async def recall(self, request: CallRequest) -> CallResult | None:
        """The stored answer to a request; None when the call has to be made."""
        ...

    async def keep(
        self, request: CallRequest, value: JsonValue, *, tokens: tuple[int | None, int | None] = (None, None)
    ) -> CallResult:
        """Store the answer to a request."""
        ...
