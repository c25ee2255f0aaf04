"""The hash chain of a package. Pure.

Every entry (the run, then its steps in the order in which they finished) has a member `chain`: the SHA-256 of each
other member, the hash of the previous entry, and its own hash over both. A changed value breaks its member's digest, a
changed digest the entry's hash, a changed hash the next entry, and a changed last hash the seal.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.foundation.canonical import digest

CHAIN = "chain"
GENESIS = "0" * 64
"""The previous hash of the first entry."""
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed check."""

    where: str
    """The run, or `step '<id>'`, `artifact <id>`, `seal`, `file`."""
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def chained(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return the entries, each linked to the previous one."""
    linked: list[dict[str, Any]] = []
    previous = GENESIS
    for entry in entries:
        digests = {member: digest(value) for member, value in entry.items()}
        previous_of_next = _hash(digests, previous)
        linked.append({**entry, CHAIN: {"digests": digests, "previous": previous, "hash": previous_of_next}})
        previous = previous_of_next
    return linked


def head_of(entries: Iterable[Entry]) -> str:
    """Return the hash of the last entry, which covers all of them."""
    head = GENESIS
    for entry in entries:
        head = entry[CHAIN]["hash"]
    return head


def broken_links(entries: Iterable[tuple[str, Entry]]) -> Iterator[Fault]:
    """Return the faults of a chain, entry by entry. Entries are named, and may hold arbitrary JSON."""
    previous = GENESIS
    for name, entry in entries:
        link = _link(entry.get(CHAIN))
        if link is None:
            yield Fault(name, "its chain member is missing or malformed.")
            return
        yield from _changed_members(name, entry, link["digests"])
        if link["previous"] != previous:
            yield Fault(name, "it does not follow the previous entry: an entry was changed, removed, added or moved.")
        if _hash(link["digests"], link["previous"]) != link["hash"]:
            yield Fault(name, "its hash does not match its digests: one of them was changed.")
        previous = link["hash"]


def _changed_members(name: str, entry: Entry, digests: Mapping[str, str]) -> Iterator[Fault]:
    members = entry.keys() - {CHAIN}
    for member in sorted(members & digests.keys()):
        if digest(entry[member]) != digests[member]:
            yield Fault(name, f"'{member}' was changed.")
    for member in sorted(members - digests.keys()):
        yield Fault(name, f"'{member}' was added.")
    for member in sorted(digests.keys() - members):
        yield Fault(name, f"'{member}' was removed.")


def _link(value: Any) -> dict[str, Any] | None:  # noqa: ANN401 - from a file
    """Return a well-formed chain member, or None."""
    if not isinstance(value, dict) or value.keys() != {"digests", "previous", "hash"}:
        return None
    digests = value["digests"]
    texts = [value["previous"], value["hash"], *(digests.values() if isinstance(digests, dict) else [None])]
    return value if all(isinstance(text, str) for text in texts) else None


def _hash(digests: Mapping[str, str], previous: str) -> str:
    return digest({"digests": dict(digests), "previous": previous})


__all__ = ["CHAIN", "GENESIS", "Entry", "Fault", "broken_links", "chained", "head_of"]
