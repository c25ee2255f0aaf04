"""Goes along a chain, entry by entry, and says where it does not hold. Pure; for rows and exported lines alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.features.audit.chain import GENESIS, digest_of_content, link

MOST_FAULTS = 50
"""That are told one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that does not hold."""

    where: str
    """`entry 5`, `entries 5 to 7`, `end`, `seal`, `line 3`."""
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Found:
    """An entry as it was found. Whoever can change it can put anything there."""

    seq: Any
    content: Mapping[str, Any] | None
    """None when it does not even have the form of one."""
    content_digest: Any
    hash: Any


@dataclass(slots=True)
class Verdict:
    """What a check came to."""

    seq: int = 0
    """The place of the last entry seen; before the first, the place before it."""
    hash: str = GENESIS
    """Its hash."""
    entries: int = 0
    faults: list[Fault] = field(default_factory=list)
    more_faults: int = 0
    """Faults beyond `MOST_FAULTS`."""
    notes: list[str] = field(default_factory=list)
    """What could not be checked, and why that is no fault."""
    key_id: str = ""
    """Who signed it, where it is signed."""

    @property
    def good(self) -> bool:
        """Whether everything holds."""
        return not self.faults

    def blame(self, where: str, what: str) -> None:
        """Write a fault down."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(where, what))
        else:
            self.more_faults += 1

    def pass_by(self, found: Found) -> None:
        """The next entry. Each is judged by what the one before says of itself, so that one change is one fault."""
        self.entries += 1
        if not isinstance(found.seq, int) or found.seq <= self.seq or not isinstance(found.hash, str):
            self.blame(f"entry {found.seq!r}", "it is no entry, or stands in a place that is taken.")
            return
        name, jumped = f"entry {found.seq}", found.seq > self.seq + 1
        if jumped:
            self.blame(*_missing(self.seq + 1, found.seq - 1))
        if digest_of_content(found.content) != found.content_digest:
            self.blame(name, "it was changed: its content is not that of its digest.")
        elif not jumped and link(self.hash, found.seq, found.content_digest) != found.hash:
            self.blame(name, "it does not follow the entry before it: one was changed, removed, added or moved.")
        self.seq, self.hash = found.seq, found.hash

    def end_at(self, seq: int, hash_: str) -> None:
        """The end of the chain, as the head or a seal says it."""
        if self.seq < seq:
            self.blame(*_missing(self.seq + 1, seq))
        elif self.seq > seq:
            self.blame("end", f"the chain ends with entry {seq}, and entry {self.seq} is there: it was put in later.")
        elif self.hash != hash_:
            self.blame("end", f"entry {seq} is not the one that the end of the chain names.")


def _missing(first: int, last: int) -> tuple[str, str]:
    if first == last:
        return f"entry {first}", "it is missing."
    return f"entries {first} to {last}", "they are missing."
