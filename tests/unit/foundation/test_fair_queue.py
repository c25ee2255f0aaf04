"""Who is given a place, whatever comes in which order."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.fair_queue import FairQueue, Path, Ticket

WEIGHTS = {"a": 1.0, "b": 1.0, "c": 2.0, "d": 5.0}


def weight_of(path: Path) -> float:
    return WEIGHTS[path[-1]]


def admit(queue: FairQueue[Any]) -> list[Ticket[Any]]:
    """Give away every place that may be given."""
    granted = []
    while (ticket := queue.next()) is not None:
        granted.append(ticket)
    return granted


def per_weight(queue: FairQueue[Any], path: Path) -> float:
    return queue.held(path) / weight_of(path)


NAMES = st.sampled_from("abcd")
PATHS = st.tuples(NAMES, NAMES, NAMES)
MOVES = st.lists(st.tuples(st.sampled_from(["add", "add", "take", "release", "withdraw"]), PATHS), max_size=80)


class Model:
    """Holds every ticket of a queue, and checks each step against the rules."""

    def __init__(self, places: int, spare: int, most: Callable[[Path], int | None] = lambda _: None) -> None:
        self.queue: FairQueue[Path] = FairQueue(places, spare, weight=weight_of, limit_of=most)
        self.places, self.spare, self.most = places, spare, most
        self.waiting: list[Ticket[Path]] = []
        self.held: list[Ticket[Path]] = []

    def move(self, move: str, path: Path) -> None:
        if move == "add":
            self.waiting.append(self.queue.add(path, path))
        elif move == "take" and (ticket := self.queue.take(path, path)) is not None:
            self.granted(ticket)
        elif move == "release" and self.held:
            self.queue.release(self.held.pop(len(path[0]) * ord(path[1]) % len(self.held)))
        elif move == "withdraw" and self.waiting:
            self.queue.withdraw(self.waiting.pop())
        for ticket in admit_one_by_one(self):
            self.granted(ticket)
        self.check()

    def granted(self, ticket: Ticket[Path]) -> None:
        if ticket in self.waiting:
            first = next(one for one in self.waiting if one.item == ticket.item)
            assert first is ticket, "first come, first served within a leaf"
            self.waiting.remove(ticket)
        self.held.append(ticket)

    def may_have_one(self, path: Path) -> bool:
        """Whether no limit on its path is reached."""
        return all(
            (most := self.most(path[:depth])) is None or self.queue.held(path[:depth]) < most for depth in (1, 2, 3)
        )

    def check(self) -> None:
        queue = self.queue
        assert queue.used == len(self.held) <= self.places + self.spare
        assert len(queue) == len(self.waiting)
        held = Counter(ticket.item[:depth] for ticket in self.held for depth in (1, 2, 3))
        assert all(queue.held(path) == count for path, count in held.items())
        eligible = [ticket.item for ticket in self.waiting if self.may_have_one(ticket.item)]
        if queue.used < self.places:
            assert not eligible, "work-conserving"


def admit_one_by_one(model: Model) -> list[Ticket[Path]]:
    """The same as `admit`; checks on every level that nobody who waits holds less for their weight."""
    queue = model.queue
    granted: list[Ticket[Path]] = []
    while True:
        regular = queue.used < model.places
        waiting = [one.item for one in model.waiting if one not in granted]
        eligible = [path for path in waiting if model.may_have_one(path)]
        keys = {path[:depth]: per_weight(queue, path[:depth]) for path in eligible for depth in (1, 2, 3)}
        before = {path: (queue.held(path), queue.share(path)) for path in waiting}
        ticket = queue.next()
        if ticket is None:
            return granted
        path = ticket.item
        for depth in (1, 2, 3):
            siblings = [key for other, key in keys.items() if other[:-1] == path[: depth - 1]]
            assert keys[path[:depth]] == min(siblings), "who holds least is next"
        held, share = before[path]
        assert regular or held < share, "spare places are for those below their share"
        granted.append(ticket)


class TestAnyOrder:
    @given(MOVES, st.integers(1, 5), st.integers(0, 5))
    def test_is_work_conserving_and_gives_to_who_holds_least(
        self, moves: Sequence[tuple[str, Path]], places: int, spare: int
    ) -> None:
        model = Model(places, spare)
        for move, path in moves:
            model.move(move, path)

    @given(MOVES, st.integers(1, 5), st.integers(0, 3))
    def test_keeps_the_limits_of_every_level(self, moves: Sequence[tuple[str, Path]], places: int, spare: int) -> None:
        limits: dict[Path, int] = {("a",): 1, ("b",): 2, ("c", "a"): 1, ("d",): 0}
        model = Model(places, spare, lambda path: limits.get(path))  # noqa: PLW0108 - `get` is overloaded
        for move, path in moves:
            model.move(move, path)
            assert all(model.queue.held(path) <= most for path, most in limits.items())

    @given(st.lists(PATHS, min_size=1, max_size=60), st.integers(1, 4), st.integers(0, 4), st.randoms())
    def test_serves_everybody_once_places_are_released(
        self, paths: Sequence[Path], places: int, spare: int, order: random.Random
    ) -> None:
        model = Model(places, spare)
        for path in paths:
            model.move("add", path)
        while model.waiting:
            assert model.held, "whoever waits waits for a place that is held"
            model.queue.release(model.held.pop(order.randrange(len(model.held))))
            for ticket in admit_one_by_one(model):
                model.granted(ticket)


class TestShares:
    @given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=4, unique=True), st.integers(1, 40), st.randoms())
    def test_are_exceeded_by_less_than_a_place_while_all_wait(
        self, names: list[str], places: int, order: random.Random
    ) -> None:
        queue: FairQueue[str] = FairQueue(places, weight=weight_of)
        for name in names:
            for _ in range(6 * places):
                queue.add((name,), name)
        held = admit(queue)
        for _ in range(2 * places):
            queue.release(held.pop(order.randrange(len(held))))
            held += admit(queue)
            total = sum(WEIGHTS[name] for name in names)
            for name in names:
                assert queue.held((name,)) < places * WEIGHTS[name] / total + 1

    def test_follow_the_weights_in_time_where_there_is_one_place(self) -> None:
        queue: FairQueue[str] = FairQueue(1, weight=weight_of)
        for name in "acd":
            for _ in range(100):
                queue.add((name,), name)
        served = Counter[str]()
        for _ in range(80):
            (ticket,) = admit(queue)
            served[ticket.item] += 1
            queue.release(ticket)
        assert served == {"a": 10, "c": 20, "d": 50}

    def test_do_not_grow_by_waiting_once_at_a_time(self) -> None:
        """Who leaves the queue between its turns gets no more turns for it."""
        queue: FairQueue[str] = FairQueue(1, weight=weight_of)
        for _ in range(60):
            queue.add(("c",), "c")
        served = Counter[str]()
        queue.add(("a",), "a")
        for _ in range(30):
            (ticket,) = admit(queue)
            served[ticket.item] += 1
            queue.release(ticket)
            if ticket.item == "a":
                queue.add(("a",), "a")
        assert served["a"] == pytest.approx(10, abs=1)

    def test_a_newcomer_waits_for_nobody_whose_work_is_long(self) -> None:
        queue: FairQueue[str] = FairQueue(4, 4)
        for _ in range(9):
            queue.add(("a", "s", "u"), "a")
        assert len(admit(queue)) == 4, "alone it has every place, and no spare ones"
        assert queue.take(("b", "s", "u"), "b") is not None
        assert queue.take(("b", "s", "u"), "b") is not None
        assert queue.take(("b", "s", "u"), "b") is None, "its share is two"
        assert queue.take(("a", "s", "v"), "another user of a") is not None

    def test_whoever_is_above_their_share_waits_until_the_spare_places_are_back(self) -> None:
        queue: FairQueue[str] = FairQueue(2, 2)
        for _ in range(4):
            queue.add(("a",), "a")
        first, second = admit(queue)
        newcomer = queue.take(("b",), "b")
        assert newcomer is not None
        queue.release(first)
        assert admit(queue) == [], "two places are held"
        queue.release(second)
        assert [ticket.item for ticket in admit(queue)] == ["a"]


class TestUse:
    def test_a_place_is_returned_once(self) -> None:
        queue: FairQueue[str] = FairQueue(1)
        ticket = queue.take(("a",), "a")
        assert ticket is not None
        with pytest.raises(ValueError, match="release it"):
            queue.withdraw(ticket)
        queue.release(ticket)
        with pytest.raises(ValueError, match="no place"):
            queue.release(ticket)
        assert queue.used == 0

    def test_a_limit_that_was_raised_counts_at_once(self) -> None:
        most: dict[Path, int] = {("a",): 1}
        queue: FairQueue[str] = FairQueue(3, limit_of=lambda path: most.get(path))  # noqa: PLW0108
        for _ in range(2):
            queue.add(("a",), "a")
        assert len(admit(queue)) == 1
        most[("a",)] = 2
        queue.refresh(("a",))
        assert len(admit(queue)) == 1

    def test_forgets_those_who_are_gone(self) -> None:
        queue: FairQueue[int] = FairQueue(1, 1)
        holder = queue.take(("holder",), 0)
        assert holder is not None
        for number in range(1000):
            ticket = queue.add((str(number),), number)
            queue.withdraw(ticket)
        assert len(queue._root.children) < 100
        queue.release(holder)
        assert not queue._root.children
