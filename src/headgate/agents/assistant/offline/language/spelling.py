"""Slips of the keyboard: the known word a person most likely meant."""

from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz.distance import OSA

_SHORTEST = 4
"""Shorter words are too alike to be corrected, apart from two letters changing places."""
_ANY_SLIP_FROM = 6
"""Letters from which a wrong, missing or extra letter is forgiven; before, only two letters that changed places."""
_TWO_SLIPS_FROM = 8


class Speller:
    """Corrects unknown words to the nearest one that tells something, when one is near enough."""

    def __init__(self, telling: Iterable[str], known: Iterable[str] = ()) -> None:
        self._known = frozenset(word for word in telling if word.isalpha())
        self._every = self._known | frozenset(known)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in sorted(self._known):
            self._by_length[len(word)].append(word)

    def correct(self, word: str) -> str | None:
        """The known word meant by an unknown one; None when it is known or none is near."""
        if word in self._every or not word.isalpha():
            return None
        if len(word) < _SHORTEST:
            return self._swapped(word)
        allowed = 2 if len(word) >= _TWO_SLIPS_FROM else 1
        best: tuple[int, bool, str] | None = None
        for length in range(len(word) - allowed, len(word) + allowed + 1):
            for known in self._by_length.get(length, ()):
                if known[0] not in word[:2] or (len(known) < _SHORTEST):
                    continue
                distance = OSA.distance(word, known, score_cutoff=allowed)
                other_letters = sorted(word) != sorted(known)
                found = (distance, other_letters, known)
                if len(word) < _ANY_SLIP_FROM and other_letters:
                    continue
                if distance <= allowed and (best is None or found < best):
                    best = found
        return best[2] if best else None

    def _swapped(self, word: str) -> str | None:
        swaps = (word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(len(word) - 1))
        return next((swap for swap in swaps if swap in self._known), None)
