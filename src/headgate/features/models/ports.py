"""Ports of the models feature: keys, and guarded access to addresses in flows."""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue, SecretStr

from headgate.features.models.setup.values import ModelServer, ModelSetup, ServerAccess
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.settings import OutgoingSettings
from headgate.sdk.calls import CallRequest, CallResult

if TYPE_CHECKING:  # named without importing the HTTP library
    from headgate.foundation.guarded_http.transport import SharedTransport


class KeySource(Protocol):
    """Source of keys and provider settings: the caller's encrypted variables first, then the environment."""

    @property
    def outgoing(self) -> OutgoingSettings:
        """Return the route of connections to the servers."""

    async def key(self, name: str) -> SecretStr | None:
        """Return the value of the variable of that name; None when it is nowhere."""

    async def available(self, names: Collection[str]) -> frozenset[str]:
        """Return those of the variables that have a value, which is not read; one query for all of them."""

    async def checks(self) -> "KeySource":
        """Return the same for checks: what it returns in place of a secret is not its value."""

    async def networks(self, name: str) -> Sequence[Network]:
        """Internal networks that the address in a variable may lead to.

        An address of the environment is the operator's own choice, one that was stored is a tenant's.
        """

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:
        """Return the value, to be sent to a server that a flow chose; None when it is nowhere.

        Raises `Forbidden` when it is there and was not stored for that server; unless `bound`, one that was stored for
        no server in particular is given.
        """

    async def setup(self) -> ModelSetup:
        """Return the setup of the space: servers by name, facts about models, models of roles."""

    async def access(self, server: ModelServer) -> ServerAccess:
        """The key and headers of a server. Raises `Forbidden` for a secret that may not go there, `KeyMissing`."""


class GuardedWeb(Protocol):
    """The way to every server of models."""

    async def check(self, url: str) -> None:
        """Return when it may be called; raise `Forbidden` naming the address when it may not."""

    def library_transport(self, networks: Sequence[Network] | None = None) -> "SharedTransport":
        """Return the guarded transport for a provider's library.

        Args:
            networks: Internal networks that are open; None for those that flows may reach.
        """


class Payment(Protocol):
    """A model call that is charged to budgets."""

    async def answered(self, tokens: tuple[int | None, int | None]) -> None:
        """Replace the estimate by the tokens of prompt and answer, where they are known."""

    async def failed(self, error: HeadgateError) -> None:
        """Undo the charge of a call that the provider refused."""


class CallLog(Protocol):
    """Answered calls of a step."""

    def asking(self) -> AbstractAsyncContextManager[None]:
        """Hold around a call that is made. Raises `ModelSkipped` for a model that failed and is not asked now."""

    async def pay(self, prompt_tokens: int) -> Payment | None:
        """Charge a call that is about to be made. Raises `BudgetExceeded`. None: no budget applies."""

    async def recall(self, request: CallRequest) -> CallResult | None:
        """Return the stored answer to a request; None when the call has to be made."""

    async def keep(
        self, request: CallRequest, value: JsonValue, *, tokens: tuple[int | None, int | None] = (None, None)
    ) -> CallResult:
        """Store the answer to a request."""
