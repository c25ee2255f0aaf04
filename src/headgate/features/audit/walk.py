"""Verifies a chain entry by entry and reports faults. Pure; for rows and exported lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.features.audit.chain import GENESIS, digest_of_content, link

MOST_FAULTS = 50
"""Faults that are listed individually; others are counted."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in the chain."""

    where: str
    """`entry 5`, `entries 5 to 7`, `end`, `seal`, `line 3`."""
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as read. It may have been tampered with."""

    seq: Any
    content: Mapping[str, Any] | None
    """None when it does not have the form of an entry."""
    content_digest: Any
    hash: Any


@dataclass(slots=True)
class Verdict:
    """The result of a verification."""

    seq: int = 0
    """Number of the last entry seen; initially the one before the first."""
    hash: str = GENESIS
    """Its hash."""
    entries: int = 0
    faults: list[Fault] = field(default_factory=list)
    more_faults: int = 0
    """Number of faults beyond `MOST_FAULTS`."""
    notes: list[str] = field(default_factory=list)
    """What could not be verified, and why that is not a fault."""
    key_id: str = ""
    """The signer, if signed."""

    @property
    def good(self) -> bool:
        """Return whether there are no faults."""
        return not self.faults

    def add_fault(self, location: str, message: str) -> None:
        """Add a fault."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(location, message))
        else:
            self.more_faults += 1

    def verify_entry(self, entry: StoredEntry) -> None:
        """Verify the next entry. Each is compared with the claims of the previous one: one change is one fault."""
        self.entries += 1
        if not isinstance(entry.seq, int) or entry.seq <= self.seq or not isinstance(entry.hash, str):
            self.add_fault(f"entry {entry.seq!r}", "it is not a valid entry, or its sequence number appears twice.")
            return
        name, jumped = f"entry {entry.seq}", entry.seq > self.seq + 1
        if jumped:
            self.add_fault(*_missing(self.seq + 1, entry.seq - 1))
        if digest_of_content(entry.content) != entry.content_digest:
            self.add_fault(name, "it was changed: its content does not match its digest.")
        elif not jumped and link(self.hash, entry.seq, entry.content_digest) != entry.hash:
            self.add_fault(
                name, "it does not follow the previous entry: an entry was changed, removed, added or moved."
            )
        self.seq, self.hash = entry.seq, entry.hash

    def verify_end(self, seq: int, hash_: str) -> None:
        """Verify the end of the chain according to the head or a seal."""
        if self.seq < seq:
            self.add_fault(*_missing(self.seq + 1, seq))
        elif self.seq > seq:
            self.add_fault("end", f"the chain ends with entry {seq}, but entry {self.seq} exists: it was added later.")
        elif self.hash != hash_:
            self.add_fault("end", f"entry {seq} does not match the end of the chain.")


def _missing(first: int, last: int) -> tuple[str, str]:
    if first == last:
        return f"entry {first}", "it is missing."
    return f"entries {first} to {last}", "they are missing."
