"""One entry per run id, whatever comes in which order."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.features.runs.engine import run_registry
from headgate.features.runs.engine.run_registry import OwnedRun, RunRegistry
from headgate.features.runs.transitions import Claim, Held
from headgate.foundation.fair_places import Share

ANNA, BOB = Share("tenant", "space", "anna"), Share("other", "space", "bob")


def run(run_id: str, **working: Claim) -> Any:
    return SimpleNamespace(key=SimpleNamespace(run_id=run_id), share=ANNA, working=working)


class TestRegistry:
    def test_queues_a_run_once(self) -> None:
        registry = RunRegistry(1)
        assert registry.enqueue("a", ANNA)
        assert not registry.enqueue("a", ANNA)
        assert registry.queue_length == 1
        first = registry.next()
        assert first is not None
        assert not registry.enqueue("a", ANNA), "it is worked on"
        assert registry.next() is None
        registry.release(first)
        assert "a" not in registry
        assert registry.enqueue("a", ANNA)

    def test_gives_slots_by_weight(self) -> None:
        registry = RunRegistry(8, weights={"tenant": 3.0})
        for number in range(8):
            registry.enqueue(f"a{number}", ANNA)
            registry.enqueue(f"b{number}", BOB)
        shares = [run.share for run in iter(registry.next, None)]
        assert (shares.count(ANNA), shares.count(BOB)) == (6, 2)

    def test_gives_slots_in_order_and_no_more_than_there_are(self) -> None:
        registry = RunRegistry(2)
        for name in "abc":
            registry.enqueue(name, ANNA)
        taken = [registry.next(), registry.next()]
        assert [entry.run_id for entry in taken if entry] == ["a", "b"]
        assert registry.next() is None
        assert registry.start(run("d")) is None
        assert registry.active("c") is None
        assert registry.get("c") is not None

    def test_orders_the_runs_of_a_user_by_priority_and_none_waits_for_ever(self, monkeypatch: Any) -> None:
        registry, clock = RunRegistry(9), [0.0]
        monkeypatch.setattr(run_registry, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        for name, priority in (("low", -10), ("normal", 0), ("high", 10), ("bob", 0)):
            registry.enqueue(name, BOB if name == "bob" else ANNA, priority=priority)
        clock[0] = 119.0
        registry.enqueue("later", ANNA, priority=10)
        clock[0] = 121.0
        registry.enqueue("last", ANNA, priority=10)
        order = [run.run_id for run in iter(registry.next, None)]
        assert [name for name in order if name != "bob"] == ["high", "normal", "later", "low", "last"]
        assert order.index("bob") <= 1, "a priority is among the runs of one user"

    def test_moves_a_run_whose_priority_is_changed(self) -> None:
        registry = RunRegistry(9)
        for name in "abc":
            registry.enqueue(name, ANNA)
        for _ in range(200):
            registry.prioritize("c", 5)
            registry.prioritize("b", -5)
        registry.prioritize("unknown", 1)
        registry.prioritize("b", -6)
        assert [run.run_id for run in iter(registry.next, None)] == ["c", "a", "b"]

    def test_lets_nobody_pass_those_that_wait(self) -> None:
        registry = RunRegistry(1)
        registry.enqueue("a", ANNA)
        assert registry.start(run("b")) is None
        assert "b" not in registry

    def test_queues_again_what_was_resumed_while_it_ended(self) -> None:
        registry = RunRegistry(1)
        entry = registry.start(run("a"))
        assert entry is not None
        entry.requeue = True
        registry.release(entry)
        again = registry.next()
        assert again is not None
        assert again is not entry
        assert not again.requeue

    def test_keeps_the_state_of_the_first_of_a_long_queue_only(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(run_registry, "MOST_KEPT", 2)
        registry = RunRegistry(9)
        for name in "abc":
            registry.enqueue(name, ANNA, run(name))
        taken = [registry.next() for _ in range(3)]
        assert [entry is not None and entry.run is not None for entry in taken] == [True, True, False]
        registry.enqueue("d", ANNA, run("d"))
        last = registry.next()
        assert last is not None
        assert last.run is not None

    def test_names_the_claims_of_everything_that_works_here(self) -> None:
        registry = RunRegistry(3)
        one = registry.start(run("a", s1=Claim("s1", 1), s2=Claim("s2", 3)))
        assert one is not None
        registry.enqueue("b", ANNA)
        assert registry.claims() == {Held("a", "s1", 1): one.run, Held("a", "s2", 3): one.run}

    def test_gives_a_spare_slot_to_who_is_below_their_share(self) -> None:
        registry = RunRegistry(2, spare=2)
        for name in "abc":
            registry.enqueue(name, ANNA)
        assert [entry.run_id for entry in (registry.next(), registry.next()) if entry] == ["a", "b"]
        assert registry.next() is None
        registry.enqueue("d", BOB)
        registry.enqueue("e", BOB)
        newcomer = registry.next()
        assert newcomer is not None
        assert newcomer.run_id == "d"
        assert registry.next() is None, "half of the slots is their share"


MOVES = st.lists(st.tuples(st.sampled_from(["enqueue", "start", "next", "release", "resume"]), st.sampled_from("abcd")))


class TestAnyOrder:
    @given(MOVES, st.integers(min_value=1, max_value=3))
    def test_owns_a_run_once_and_loses_none(self, moves: Sequence[tuple[str, str]], slots: int) -> None:
        registry = RunRegistry(slots)
        active: list[OwnedRun] = []
        queued: set[str] = set()
        for move, name in moves:
            if move == "enqueue":
                assert registry.enqueue(name, ANNA) is (name not in queued | {one.run_id for one in active})
                queued |= {name} - {one.run_id for one in active}
            elif move == "start" and name not in registry:
                started = registry.start(run(name))
                assert (started is not None) is (len(active) < slots and not queued)
                active += [started] if started is not None else []
            elif move == "next" and (entry := registry.next()) is not None:
                queued.remove(entry.run_id)
                active.append(entry)
            elif move == "release" and active:
                entry = active.pop()
                registry.release(entry)
                queued |= {entry.run_id} if entry.requeue else set()
            elif move == "resume" and active:
                active[-1].requeue = True
            ids = [one.run_id for one in registry]
            assert len(ids) == len(set(ids)) == len(active) + registry.queue_length
            assert {one.run_id for one in active} | queued == set(ids)
            assert len(active) <= slots
