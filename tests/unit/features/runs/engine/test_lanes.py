"""Lanes, and the order in which a worker takes from them."""

from collections import Counter, defaultdict, deque

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headgate.features.runs.engine.distributed.lanes import LaneCycle, Lanes, all_lanes
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.foundation.fair_places import Share

QUEUES = Queues("headgate")


def served(waiting: dict[str, int], count: int, cycle: LaneCycle | None = None) -> list[str]:
    """The queues that the next messages come from, as Redis chooses: the first in the order that has any."""
    cycle = cycle or LaneCycle(QUEUES.names)
    left = Counter(waiting)
    order = []
    for _ in range(count):
        queue = next(name for name in cycle.consume(len(QUEUES.names)) if left[name])
        left[queue] -= 1
        order.append(cycle.rotate(queue))
    return order


def lane_of(share: Share, run: int = 0, **weights: float) -> str:
    return Lanes(weights).of(share, f"run {run}")


class TestLaneOf:
    @given(st.floats(0.1, 1000), st.integers())
    def test_is_one_that_workers_take_from_and_the_same_when_a_run_is_sent_again(self, weight: float, run: int) -> None:
        share = Share("a", "b", "c")
        assert lane_of(share, run, a=weight, c=weight) == lane_of(share, run, a=weight, c=weight)
        assert lane_of(share, run, a=weight, c=weight) in all_lanes()

    @given(st.text(), st.text(), st.text())
    def test_of_one_tenant_are_in_one_group(self, tenant: str, space: str, user: str) -> None:
        assert lane_of(Share(tenant, space, user)).partition("-")[0] == lane_of(Share(tenant)).partition("-")[0]

    def test_of_users_are_spread(self) -> None:
        assert len({lane_of(Share("tenant", "space", f"user {number}")) for number in range(100)}) == 8
        assert len({lane_of(Share(f"tenant {number}")) for number in range(1000)}) == 64


class TestWeights:
    def queued(self, share: Share, count: int, **weights: float) -> Counter[str]:
        return Counter(QUEUES.first(lane_of(share, run, **weights)) for run in range(count))

    @given(st.integers(1, 7), st.integers(0, 1000))
    def test_of_a_tenant_are_its_turns_while_others_have_one(self, weight: int, number: int) -> None:
        heavy = self.queued(Share("heavy"), 400, heavy=weight)
        other = self.queued(Share(f"tenant {number}"), 400, heavy=weight)
        assume({queue.split("-")[0] for queue in heavy}.isdisjoint(queue.split("-")[0] for queue in other))
        turns = Counter(queue in heavy for queue in served(dict(heavy + other), 5 * (weight + 1)))
        assert turns == {True: 5 * weight, False: 5}

    @pytest.mark.parametrize("weights", [{"ada": 3.0}, {"space": 3.0}, {"space": 1.5, "ada": 2.0}])
    def test_of_a_space_and_a_user_are_turns_within_their_tenant(self, weights: dict[str, float]) -> None:
        heavy = self.queued(Share("tenant", "space", "ada"), 400, **weights)
        others = (self.queued(Share("tenant", "another", f"user {number}"), 400, **weights) for number in range(20))
        other = next(one for one in others if one.keys().isdisjoint(heavy))
        turns = Counter(queue in heavy for queue in served(dict(heavy + other), 20))
        assert turns == {True: 15, False: 5}

    def test_of_nobody_change_nothing(self) -> None:
        share = Share("tenant", "space", "ada")
        assert {lane_of(share, run, somebody=8) for run in range(100)} == {lane_of(share)}


class TestPriorities:
    HIGH, NORMAL, LOW = (QUEUES.first("2-2", priority) for priority in (50, 0, -1))

    def test_take_turns_by_their_shares_and_none_waits_for_ever(self) -> None:
        order = served({self.HIGH: 900, self.NORMAL: 900, self.LOW: 900}, 100)
        assert order[0] == self.HIGH
        assert Counter(order) == {self.HIGH: 60, self.NORMAL: 30, self.LOW: 10}

    def test_that_were_empty_have_saved_no_turns(self) -> None:
        cycle = LaneCycle(QUEUES.names)
        assert served({self.LOW: 500}, 500, cycle) == [self.LOW] * 500
        assert Counter(served({self.HIGH: 99, self.LOW: 99}, 70, cycle))[self.HIGH] in {59, 60, 61}

    def test_change_nothing_between_lanes_and_for_what_has_begun(self) -> None:
        other, begun = QUEUES.first("2-3", -100), QUEUES.begun("2-2")
        order = served({self.HIGH: 9, begun: 2, other: 9}, 10)
        assert order.count(other) == 5
        assert [queue for queue in order if queue != other][:3] == [begun, begun, self.HIGH]


class TestLaneCycle:
    def test_serves_another_tenant_next_however_much_one_has_sent(self) -> None:
        one, other = QUEUES.first("0-0"), QUEUES.first("5-3")
        cycle = LaneCycle(QUEUES.names)
        assert served({one: 2000}, 10, cycle) == [one] * 10
        assert served({one: 1990, other: 2}, 5, cycle) == [other, one, other, one, one]

    def test_shares_between_tenants_first_then_between_their_users(self) -> None:
        users = {QUEUES.first(f"0-{number}"): 100 for number in range(4)}
        alone = QUEUES.first("7-7")
        counts = Counter(served({**users, alone: 100}, 80))
        assert counts[alone] == 40
        assert {counts[user] for user in users} == {10}

    def test_finishes_what_has_begun_before_more_of_the_lane_begins_and_upkeep_never_waits(self) -> None:
        first, begun = QUEUES.first("1-1"), QUEUES.begun("1-1")
        assert served({first: 2, begun: 2, QUEUES.upkeep: 1}, 5) == [QUEUES.upkeep, begun, begun, first, first]

    def test_keeps_whose_turn_it_is_when_queues_are_added(self) -> None:
        """Kombu adds the queues of a worker one by one, and all again after a lost connection."""
        one, other = QUEUES.first("0-0"), QUEUES.first("5-3")
        cycle = LaneCycle()
        for name in QUEUES.names:
            cycle.update([*cycle.consume(999), name])
        assert served({one: 9, other: 9}, 1, cycle) == [one]
        cycle.update(QUEUES.names)
        assert served({one: 8, other: 9}, 2, cycle) == [other, one]

    @given(st.lists(st.tuples(st.sampled_from(QUEUES.names), st.integers(1, 5)), min_size=1, max_size=12))
    def test_serves_every_message_and_no_lane_twice_while_another_waits_for_its_first(
        self, amounts: list[tuple[str, int]]
    ) -> None:
        waiting: Counter[str] = Counter()
        for queue, amount in amounts:
            waiting[queue] += amount
        order = served(dict(waiting), waiting.total())
        assert Counter(order) == waiting
        groups: defaultdict[str, set[str]] = defaultdict(set)
        for queue in waiting:
            if queue != QUEUES.upkeep:
                groups[queue.rpartition(".")[2].partition("-")[0]].add(queue)
        firsts = deque(queue.rpartition(".")[2].partition("-")[0] for queue in order if queue != QUEUES.upkeep)
        assert len({firsts.popleft() for _ in range(len(groups))}) == len(groups)
