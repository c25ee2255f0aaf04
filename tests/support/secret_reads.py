"""Reads of secrets in tests."""

from dataclasses import dataclass, field

from headgate.features.secrets.reads import Source


@dataclass
class NotedReads:
    """Keeps what was read."""

    noted: list[tuple[str, Source]] = field(default_factory=list)

    async def note(self, name: str, source: Source) -> None:
        """See `ReadAudit`."""
        self.noted.append((name, source))
