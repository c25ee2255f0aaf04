"""Ports for flows: components and versions, who starts them, how they are classified, where results are sent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue, SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import Delivery, RunKey
from headgate.graph.model import Flow
from headgate.graph.template import Template
from headgate.sdk import Component

if TYPE_CHECKING:  # referenced without importing them
    from headgate.features.runs.deliveries.target import Target
    from headgate.graph.classification import Classified, Observed, Scheme


class Components(Protocol):
    """Component classes and their templates."""

    def types(self) -> Sequence[str]:
        """Return every known type, sorted."""

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """Return the template of a type with these params; None when unknown."""

    def code(self, type_: str) -> str | None:
        """Return the source of a custom component; None for others."""

    def component(self, type_: str) -> type[Component]:
        """Return the class of a type. Raises `NotFound`."""

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> "Components":
        """Return these components plus the flow's custom components that the tenant has had checked."""

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return the default model for steps of a space, as a model field holds it; None when not set."""


class Definitions(Protocol):
    """Contents of immutable versions."""

    async def __call__(self, key: RunKey) -> Flow:
        """Return the flow of that version. Raises `NotFound`."""


class Starters(Protocol):
    """Users who start runs."""

    async def may_start(self, tenant_id: str, user_id: str | None, flow_id: str, *, without_user: bool) -> bool:
        """Return whether a step of a user's run may start a flow; for a visitor's run what `without_user` says."""


class SecurityClasses(Protocol):
    """Classifications of models, where an installation enables them."""

    @property
    def scheme(self) -> "Scheme":
        """Return the available classifications."""

    async def classify(self, tenant_id: str, flow: Flow, observed: "Observed | None" = None) -> "Classified":
        """Classify the steps of a flow with the current classifications of the tenant's models.

        `observed` is what a run has shown; None outside of one.
        """


class Sealer(Protocol):
    """Encrypts stored data."""

    def encrypt(self, secret: SecretStr) -> bytes:
        """Encrypt a text to a token that is safe to store."""

    def decrypt(self, token: bytes) -> SecretStr:
        """Decrypt a token. Raises `Unavailable` when the key is not the one that encrypted it."""


class Deliveries(Protocol):
    """Webhook deliveries of step outputs (`output_mode` `http_post`)."""

    def seal(self, origin: Origin, target: "Target") -> Delivery:
        """Encrypt a delivery, to be stored with the step's result."""

    def send_soon(self, delivery_id: str) -> None:
        """Send a stored delivery; returns immediately."""

    async def settle(self) -> None:
        """Wait until this process sends nothing."""
