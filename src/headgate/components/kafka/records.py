"""What is read of a partition."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """A message."""

    offset: int
    timestamp: int
    """Milliseconds since 1970."""
    key: bytes | None
    value: bytes | None
    """None: a tombstone."""
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that are not read."""

    first: int
    last: int
    reason: str
