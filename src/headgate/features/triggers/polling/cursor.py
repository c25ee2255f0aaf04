"""What polls of a trigger have handled."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import orjson
from pydantic import JsonValue

from headgate.features.triggers.errors import TriggerInvalid

MOST_LISTED = 1_000
"""Items that a kind lists in one poll."""
MOST_SEEN = 2 * MOST_LISTED
"""Marks that a cursor keeps: more than a listing has, so that one answer without items makes nothing new again."""
_MARK_CHARS = 16


@dataclass(frozen=True, slots=True)
class Cursor:
    """What polls have handled, as stored with the occurrences."""

    seen: tuple[str, ...] = ()
    """Marks of handled items, those of the last listing first."""
    value: JsonValue = None
    """Of a cursor column: the rows from this value on are read again; the marks are of those that were handled."""
    count: int = 0
    """Changes of a page so far: the same content may come back."""
    unconfirmed: tuple[str, ...] = ()
    """Items whose runs are stored and whose source does not know it yet."""
    unsettled: Mapping[str, int] = field(default_factory=dict)
    """Marks of items that may be incomplete, to when each was first seen, in microseconds."""

    def text(self) -> str:
        """Return it as stored."""
        return orjson.dumps(asdict(self)).decode()


def cursor_of(text: str | None) -> Cursor | None:
    """Return a stored cursor; None before the first poll."""
    if text is None:
        return None
    stored = orjson.loads(text)
    unsettled = stored.get("unsettled", {})
    return Cursor(tuple(stored["seen"]), stored["value"], stored["count"], tuple(stored["unconfirmed"]), unsettled)


def mark_of(key: str) -> str:
    """Return a short mark of a key."""
    return hashlib.sha256(key.encode()).hexdigest()[:_MARK_CHARS]


def settle(keys: Sequence[str], cursor: Cursor | None, at: int, microseconds: int) -> tuple[list[bool], Cursor | None]:
    """Return which keys were handled, or first seen so long ago, and the cursor with the others. Pure."""
    before = Cursor() if cursor is None else cursor
    handled, waiting = set(before.seen), {}
    settled = []
    for mark in map(mark_of, keys):
        since = min(before.unsettled.get(mark, at), at)  # a clock that was ahead delays nothing
        settled.append(mark in handled or (mark in before.unsettled and at - since >= microseconds))
        if not settled[-1]:
            waiting[mark] = since
    return settled, replace(before, unsettled=waiting)


@dataclass(frozen=True, slots=True)
class Fresh:
    """New items of a listing, by their positions."""

    positions: tuple[int, ...]
    cursor: Cursor
    """After them."""
    more: bool
    """Whether further ones are new."""


def fresh_of(keys: Sequence[str], cursor: Cursor | None, *, most: int, all_at_first: bool) -> Fresh:
    """Return what is new in a listing, in its order. Pure. Raises `TriggerInvalid` for one that is too long."""
    if len(keys) > MOST_LISTED:
        raise TriggerInvalid(f"The source has more than {MOST_LISTED:,} items.", remedy="Select fewer of them.")
    marks = [mark_of(key) for key in keys]
    if cursor is None and not all_at_first:
        return Fresh((), Cursor(tuple(dict.fromkeys(marks))), more=False)
    before = Cursor() if cursor is None else cursor
    handled = set(before.seen)
    first = {mark: position for position, mark in reversed(list(enumerate(marks)))}
    positions = sorted(position for mark, position in first.items() if mark not in handled)
    chosen = positions[:most]
    listed = [mark for mark in first if mark in handled]
    seen = dict.fromkeys([*(marks[position] for position in chosen), *listed, *before.seen])
    after = replace(before, seen=tuple(seen)[:MOST_SEEN])
    return Fresh(tuple(chosen), after, more=len(positions) > most)
