"""What every kind of source offers: a list of entries, each with key and version, that are read one by one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import JsonValue

from headgate.features.connections.http import GuardedClient
from headgate.features.knowledge_sources.repository import Known
from headgate.features.triggers.polling.context import PollContext
from headgate.foundation.guarded_http.credential import Credential
from headgate.sdk import ComponentError, HttpAnswer

MOST_BYTES = 50_000_000
"""Of the content of one document."""
LONGEST_KEY = 500


@dataclass(frozen=True, slots=True)
class Content:
    """The content of an entry."""

    content: bytes
    media_type: str
    file_name: str
    """Its ending may say what the content is."""
    version: str = ""
    """Where the listing has none."""
    note: str = ""
    """What of the entry is not in the content."""


class Gone(ComponentError):
    """The source lists the entry, but has it no more: its document is deleted."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that a source has."""

    key: str
    """What names it in its source; always the same for the same thing."""
    name: str
    """Of its document, after the name of the source."""
    version: str
    """Changes with the content; empty: unknown before it is read."""
    fetch: Callable[[Known | None], Awaitable[Content | None]]
    """Returns the content; None: unchanged since it was read with the known version. Raises why it cannot be read."""
    parent: str = ""
    """Key of the entry that it is attached to, which was yielded before."""


class Listing(Protocol):
    """A source that is open."""

    complete: bool
    """Whether everything was listed, once `entries` has ended: only then is what was not listed deleted."""
    notes: list[str]
    """What was omitted."""

    def entries(self) -> AsyncIterator[Entry]:
        """Yield the entries, each key once."""


@dataclass(slots=True)
class SourceContext(PollContext):
    """Where components read for a source."""

    omissions: list[str] = field(default_factory=list)
    """What components said that they omitted."""

    def log(self, message: str, **details: JsonValue) -> None:
        """Remember what was omitted."""
        if details.get("omitted"):
            self.omissions.append(message)


@dataclass(frozen=True, slots=True)
class OnlyHosts:
    """A guarded client that reaches some hosts only, also after a redirect."""

    client: GuardedClient
    credential: Credential

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request. Raises `HostRefused` for another host, and what the client raises."""
        return await self.client.request(
            method, url, headers=headers, body=body, timeout_seconds=timeout_seconds, credential=self.credential
        )


Open = Callable[[SourceContext, Any, Mapping[str, Known]], AbstractAsyncContextManager[Listing]]
"""Opens a source with its settings and what is known of it."""
