"""Questions to a chat model outside of runs: the port, with the keys of a space."""

from dataclasses import dataclass
from typing import Protocol

from headgate.features.access.principal import Principal


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer of a model."""

    text: str
    tokens: int
    """Of prompt and answer, as far as the provider counts them."""


class Asker(Protocol):
    """Chat models with the keys of a space."""

    async def ask(self, principal: Principal, model: str, *, system: str, text: str) -> Asked:
        """Ask a model `provider/name` once, as a user who works in a space. Raises `HeadgateError`."""

    async def clearance(self, tenant_id: str, model: str) -> int | None:
        """Return the highest classification that a model may receive; None when classifications are disabled."""
