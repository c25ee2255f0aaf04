"""Collects the faults of a description, so that one refusal lists all of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from headgate.agents.codev.domains.flowise.errors import BadSpec

MOST_NAMED = 20


class Faults:
    """The faults so far. After a fault in one part the others are still checked."""

    def __init__(self) -> None:
        self.errors: list[BadSpec] = []
        self.places: set[str] = set()
        """Ids of nodes with faults, whose further faults may be consequences."""

    @contextmanager
    def part(self, *places: str) -> Iterator[None]:
        """Check one part, and collect its `BadSpec`."""
        try:
            yield
        except BadSpec as error:
            self.add(error, *places)

    def add(self, error: BadSpec, *places: str) -> None:
        """Add a fault of these nodes, without duplicates."""
        self.places.update(places)
        if str(error) not in map(str, self.errors):
            self.errors.append(error)

    def check(self) -> None:
        """Raise `BadSpec` with all faults, if there are any."""
        if len(self.errors) <= 1:
            for error in self.errors:
                raise error
            return
        named = self.errors[:MOST_NAMED]
        more = f" {len(self.errors) - MOST_NAMED} more are not listed." if len(self.errors) > MOST_NAMED else ""
        numbered = list(enumerate(named, 1))
        raise BadSpec(
            f"{len(self.errors)} problems. "
            + " ".join(f"({number}) {error.detail}" for number, error in numbered)
            + more,
            remedy=" ".join(f"({number}) {error.remedy}" for number, error in numbered if error.remedy),
        )
