"""Sessions of the development agent: what people ask of them. The work itself is done by the runner's tasks."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue, SecretStr

from headgate.agents.codev.domain import Domain
from headgate.agents.codev.schemas import (
    Domains,
    Resume,
    SessionPage,
    SessionResponse,
    SessionStart,
    SessionSummary,
    Status,
)
from headgate.features.access.principal import Principal
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

Heard = tuple[int, str, dict[str, JsonValue]]
"""Number, kind and data of an event; pieces of the model's words have the number of the event before them."""


@dataclass(slots=True)
class Sessions:
    """Sessions of an installation."""

    settings: Settings
    database: Database
    domains: Mapping[str, Domain] = field(default_factory=dict)

    async def start(self, principal: Principal, wanted: SessionStart, *, address: str | None) -> SessionResponse:
        """Begin a session; it is worked on in the background. Raises `RateLimited`, `NotFound`, `Invalid`."""
        raise NotImplementedError

    async def resume(self, principal: Principal, session_id: str, answer: Resume) -> SessionResponse:
        """Answer what a session waits for; it goes on in the background. Raises `NotWaiting`."""
        raise NotImplementedError

    async def get(self, principal: Principal, session_id: str) -> SessionResponse:
        """A session with what is known so far. Raises `SessionNotFound`."""
        raise NotImplementedError

    async def check(self, principal: Principal, session_id: str) -> None:
        """Raise `SessionNotFound` unless the caller sees the session."""
        raise NotImplementedError

    async def list(
        self, principal: Principal, *, cursor: str | None = None, limit: int = 50, status: Status | None = None
    ) -> SessionPage:
        """Sessions of the spaces that the caller sees, newest first."""
        raise NotImplementedError

    async def delete(self, principal: Principal, session_id: str) -> None:
        """Delete a session with all that was kept of it; what it wrote stays. Raises `SessionAtWork`."""
        raise NotImplementedError

    async def summary(self, principal: Principal, session_id: str) -> SessionSummary:
        """The session as a Markdown document."""
        raise NotImplementedError

    async def rollback(self, principal: Principal, session_id: str) -> SessionResponse:
        """Take back what the session wrote. Raises `SessionAtWork`, `NothingToRollBack`, `WriteConflict`."""
        raise NotImplementedError

    async def stop(self, principal: Principal, session_id: str) -> SessionResponse:
        """End a session; one that is over stays as it is."""
        raise NotImplementedError

    async def retry(self, principal: Principal, session_id: str) -> SessionResponse:
        """Go on with a session that failed or was stopped by hand, from its last step. Raises `NotWaiting`."""
        raise NotImplementedError

    async def wait(self, principal: Principal, session_id: str) -> SessionResponse:
        """The session when it rests: it waits for somebody, or is over."""
        raise NotImplementedError

    def follow(self, principal: Principal, session_id: str, after: int = 0) -> AsyncGenerator[Heard, None]:
        """Events behind a number, those already told first, until the session rests."""
        raise NotImplementedError

    async def add_credential(
        self, principal: Principal, session_id: str, kind: str, name: str, values: Mapping[str, SecretStr]
    ) -> SessionResponse:
        """Make a credential in the session's place. Raises `Invalid`, `Forbidden`."""
        raise NotImplementedError

    async def list_domains(self, principal: Principal) -> Domains:
        """What sessions of this person may work on."""
        raise NotImplementedError
