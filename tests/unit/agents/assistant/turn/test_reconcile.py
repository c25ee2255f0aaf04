"""Which updates a page is sent, over every order of what can happen."""

import inspect
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.assistant.turn.reconcile import SentActions, reconcile
from headgate.toolkit.actions import Action
from tests.support.report_all import report_all


def built(name: str) -> Action:
    return {"action": "set_flow", "flow": {"name": name}}


RAN: Action = {"action": "flow_ran", "run_id": "r1", "status": "completed"}
ADDED: Action = {"action": "add_component", "node": {"id": "x"}}
FIELD: Action = {"action": "edit_field", "id": "e"}


def split(updates: Sequence[Action]) -> Iterator[list[list[Action]]]:
    """Every way to cut a sequence into batches."""
    for cuts in product((False, True), repeat=max(0, len(updates) - 1)):
        batches: list[list[Action]] = [[updates[0]]] if updates else []
        for cut, update in zip(cuts, updates[1:], strict=True):
            if cut:
                batches.append([update])
            else:
                batches[-1].append(update)
        yield batches


def sent(batches: Sequence[Sequence[Action]]) -> tuple[list[Action], SentActions]:
    told, out = SentActions(), list[Action]()
    for batch in batches:
        forwarded, told = reconcile(told, batch)
        out += forwarded
    return out, told


def whole(updates: Sequence[Action]) -> list[Action]:
    return [update for update in updates if update["action"] == "set_flow"]


HAPPENINGS: tuple[list[Action], ...] = (
    [built("a"), RAN],
    [built("a"), RAN, ADDED],
    [built("a"), built("b"), RAN, ADDED],
    [built("a"), RAN, RAN],
)
ORDERS = [batches for updates in HAPPENINGS for order in permutations(updates) for batches in split(order)]


def named(batches: list[list[Action]]) -> str:
    return "|".join("+".join(str(one["action"]) for one in batch) for batch in batches)


class TestReconcile:
    def test_applies_what_was_built_and_run_in_every_order(self) -> None:
        with report_all() as item:
            for batches in ORDERS:
                with item(named(batches)):
                    out, told = sent(batches)
                    assert all(update["action"] != "flow_ran" for update in out)
                    assert whole(out)[-1].get("auto_apply") is True
                    assert told == SentActions(waiting=None, ran=True)
                    last = [update for batch in batches for update in batch if update["action"] == "set_flow"][-1]
                    assert whole(out)[-1]["flow"] == last["flow"]

    def test_takes_each_flow_over_at_most_once(self) -> None:
        with report_all() as item:
            for batches in ORDERS:
                with item(named(batches)):
                    applied = [str(update["flow"]) for update in whole(sent(batches)[0]) if update.get("auto_apply")]
                    assert len(applied) == len(set(applied))

    def test_leaves_what_was_only_built_to_a_person(self) -> None:
        for batches in split([built("a"), ADDED, FIELD]):
            out, told = sent(batches)
            assert out == [built("a"), ADDED, FIELD]
            assert told == SentActions(waiting=built("a"))

    def test_sends_a_waiting_flow_once_more_as_it_ran(self) -> None:
        later = RAN | {"flow": {"name": "a, and more"}}
        out, _ = sent([[built("a")], [ADDED], [later], [later]])
        assert out == [built("a"), ADDED, {"action": "set_flow", "flow": {"name": "a, and more"}, "auto_apply": True}]

    def test_applies_what_is_gone_back_to_when_it_says_so(self) -> None:
        back = built("before") | {"auto_apply": True, "undo": True}
        assert sent([[built("a")], [back]]) == ([built("a"), back], SentActions())

    def test_knows_nothing_of_the_request(self) -> None:
        assert list(inspect.signature(reconcile).parameters) == ["sent_before", "batch"]

    @given(st.lists(st.lists(st.sampled_from([built("a"), built("b"), RAN, ADDED, FIELD]), max_size=4), max_size=6))
    def test_forwards_all_but_runs_in_their_order(self, batches: list[list[Action]]) -> None:
        out, _ = sent(batches)
        again = [update for update in out if not update.get("auto_apply") or update["action"] != "set_flow"]
        plain = [update for batch in batches for update in batch if update["action"] not in {"flow_ran", "set_flow"}]
        assert [update for update in again if update["action"] != "set_flow"] == plain
        ran = any(update is RAN for batch in batches for update in batch)
        assert any(update.get("auto_apply") for update in whole(out)) == (ran and bool(whole(out)))

    @given(st.lists(st.sampled_from([built("a"), RAN, ADDED]), max_size=6))
    def test_is_the_same_for_a_page_however_updates_are_batched(self, updates: list[Action]) -> None:
        """A page that shows the last applied whole flow, and the edits after it, ends alike."""

        def shown(out: Sequence[Action]) -> str:
            applied = [update for update in whole(out) if update.get("auto_apply")]
            return str(applied[-1]["flow"]) if applied else "as before"

        assert len({shown(sent(batches)[0]) for batches in split(updates)}) <= 1
