"""Which passages of a document are kept, moved, added and removed when its text changes. Pure."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage of a document in the database."""

    id: int
    generation: int
    ordinal: int
    digest: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes that make the stored passages those of a generation."""

    moved: tuple[tuple[int, int], ...]
    """Id of a stored passage of an earlier generation, and its new ordinal."""
    added: tuple[int, ...]
    """Ordinals of passages to insert."""
    removed: tuple[int, ...]
    """Ids of passages that are no part of the text any more."""
    unchanged: int
    """Number of passages that are already stored in this generation: of an interrupted attempt."""


def changes_of(stored: Sequence[StoredPassage], digests: Sequence[str], generation: int) -> Changes:
    """Return the changes from the stored passages to those with these digests, in order.

    A passage with the same digest is used again, so that only changed passages are indexed. Of an interrupted attempt
    at the same generation passages stay where they are.
    """
    current = [stored_passage for stored_passage in stored if stored_passage.generation == generation]
    settled = {
        passage.ordinal
        for passage in current
        if passage.ordinal < len(digests) and digests[passage.ordinal] == passage.digest
    }
    usable: dict[str, deque[int]] = defaultdict(deque)
    removed: list[int] = []
    for passage_row in sorted(stored, key=lambda passage: (passage.ordinal, passage.id)):
        if passage_row.generation == generation:
            if passage_row.ordinal not in settled:
                removed.append(passage_row.id)
        else:
            usable[passage_row.digest].append(passage_row.id)
    moved: list[tuple[int, int]] = []
    added: list[int] = []
    for ordinal, digest in enumerate(digests):
        if ordinal in settled:
            continue
        if usable[digest]:
            moved.append((usable[digest].popleft(), ordinal))
        else:
            added.append(ordinal)
    removed += [id_ for ids in usable.values() for id_ in ids]
    return Changes(tuple(moved), tuple(added), tuple(removed), len(settled))
