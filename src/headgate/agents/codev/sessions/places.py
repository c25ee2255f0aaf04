"""What sessions need of others, wired by an entry point."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import SecretStr

from headgate.agents.codev.domain import Domain, Workplace
from headgate.agents.codev.errors import DomainNotFound
from headgate.agents.codev.ports import Patterns, Reasoning, TestSets
from headgate.agents.codev.schemas import InstanceOut
from headgate.agents.codev.tables import SessionRow
from headgate.features.access.principal import Principal
from headgate.features.models.ports import KeySource


class ChoosesReasoning(Protocol):
    """Selects the model of a session."""

    @property
    def keys_of(self) -> Callable[[Principal, str], KeySource]:
        """The variables of a user's space, read in a session of theirs."""

    async def choose(self, principal: Principal, name: str | None = None, session_id: str = "") -> Reasoning:
        """Return the model, `provider/name`. Raises `Invalid` naming what is missing."""

    async def default(self, principal: Principal) -> str:
        """Return the default model; empty if none is ready."""


class OnePost(Protocol):
    """The guarded client, as far as notices need it."""

    async def check(self, url: str) -> None:
        """Raise `Forbidden` or `Invalid` when a request to this address would be refused."""

    async def post_once(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float = 30.0
    ) -> int:
        """POST, not tried again; the status. Raises `UpstreamFailed`, `Forbidden` or `Invalid`."""


SecretOf = Callable[[SessionRow, str], Awaitable[SecretStr | None]]
"""Return the value of a variable of a session's space; None when there is none."""


async def _no_instances(_principal: Principal) -> Sequence[InstanceOut]:
    return ()


@dataclass(frozen=True, slots=True)
class Place:
    """A domain for selection."""

    domain: Domain
    label: str
    instances: Callable[[Principal], Awaitable[Sequence[InstanceOut]]] = _no_instances
    test_sets: Callable[[Principal], TestSets] | None = None
    """Stores accepted cases; None if it has no test sets."""
    space_of: Callable[[Principal, str], Awaitable[str]] | None = None
    """Return the space of an existing flow; None if flows have no Headgate space."""


PatternsOf = Callable[[Principal, str, str, str], Patterns]
"""Return the library of patterns for a user, a space, a domain and a session."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Places, models, patterns, and the way out."""

    reasoning: ChoosesReasoning
    patterns: PatternsOf
    http: OnePost
    secret_of: SecretOf
    places: Mapping[str, Place] = field(default_factory=dict)

    def place(self, name: str) -> Place:
        """Return the place of a domain. Raises `DomainNotFound`."""
        place = self.places.get(name)
        if place is None:
            known = ", ".join(sorted(self.places))
            raise DomainNotFound(f"There is no domain '{name[:40]}'.", remedy=f"Use one of these: {known}.")
        return place


async def first_instance(place: Place, principal: Principal) -> str:
    """The instance of a session that names none, for all its life: another may be the first tomorrow."""
    return next((instance.id for instance in await place.instances(principal)), "")


@asynccontextmanager
async def opened(place: Place, principal: Principal, row: SessionRow) -> AsyncIterator[Workplace]:
    """Open the workplace of a session for the block."""
    workplace = await place.domain.open(principal, row.space_id, row.instance_id)
    try:
        yield workplace
    finally:
        await workplace.close()
