"""Gathers what is wrong with the parts of a description, so that one refusal names all of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from headgate.agents.codev.domains.flowise.errors import BadSpec

MOST_NAMED = 20


class Faults:
    """What is wrong so far. A part that fails leaves the others to be checked."""

    def __init__(self) -> None:
        self.errors: list[BadSpec] = []
        self.places: set[str] = set()
        """Ids of the nodes that something is wrong with, whose other faults may only follow from that."""

    @contextmanager
    def part(self, *places: str) -> Iterator[None]:
        """Check one part: a `BadSpec` that it raises is kept."""
        try:
            yield
        except BadSpec as error:
            self.add(error, *places)

    def add(self, error: BadSpec, *places: str) -> None:
        """Keep a fault of these nodes. The same one is kept once."""
        self.places.update(places)
        if str(error) not in map(str, self.errors):
            self.errors.append(error)

    def check(self) -> None:
        """Raise `BadSpec` with everything that was kept; nothing happens when that is nothing."""
        if len(self.errors) <= 1:
            for error in self.errors:
                raise error
            return
        named = self.errors[:MOST_NAMED]
        more = f" {len(self.errors) - MOST_NAMED} more are not named." if len(self.errors) > MOST_NAMED else ""
        numbered = list(enumerate(named, 1))
        raise BadSpec(
            f"{len(self.errors)} things are wrong. "
            + " ".join(f"({number}) {error.detail}" for number, error in numbered)
            + more,
            remedy=" ".join(f"({number}) {error.remedy}" for number, error in numbered if error.remedy),
        )
