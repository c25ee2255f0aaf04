from headgate.features.runs.engine.distributed.sweeper import missing, sort_out
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.postgres_dispatches import Sent

NOW, PATIENCE = 1_000, 100


def sent(run_id: str, at: int | None, *, status: RunStatus = RunStatus.QUEUED, claimed: int | None = None) -> Sent:
    return Sent(run_id, status, at, 1, claimed, None)


class TestSortOut:
    def test_sends_what_was_never_sent(self) -> None:
        assert [one.run_id for one in sort_out([sent("a", None)], now=NOW, patience=PATIENCE).unsent] == ["a"]

    def test_sends_what_lost_its_worker_after_it_was_sent(self) -> None:
        lost = sent("a", 10, status=RunStatus.RUNNING, claimed=20)
        assert sort_out([lost], now=NOW, patience=PATIENCE).unsent == [lost]

    def test_leaves_alone_what_was_sent_again_since_then(self) -> None:
        again = sent("a", 30, status=RunStatus.RUNNING, claimed=20)
        assert sort_out([again], now=NOW, patience=PATIENCE).unsent == []
        assert sort_out([again], now=NOW, patience=PATIENCE).begun == [again]

    def test_leaves_alone_what_was_sent_or_went_on_a_moment_ago(self) -> None:
        fresh = sent("a", NOW)
        going = Sent("b", RunStatus.RUNNING, 10, 1, None, NOW)
        found = sort_out([fresh, going], now=NOW, patience=PATIENCE)
        assert (found.unsent, found.first, found.begun) == ([], [], [])

    def test_sends_what_was_sent_by_a_clock_that_was_ahead(self) -> None:
        ahead = sent("a", NOW + PATIENCE + 1)
        assert sort_out([ahead], now=NOW, patience=PATIENCE).first == [ahead]

    def test_tells_runs_that_wait_from_runs_that_have_begun(self) -> None:
        waiting, begun = sent("a", 10), sent("b", 10, status=RunStatus.RUNNING)
        found = sort_out([waiting, begun], now=NOW, patience=PATIENCE)
        assert (found.first, found.begun) == ([waiting], [begun])


class TestMissing:
    def test_is_nothing_while_there_are_as_many_messages_as_runs(self) -> None:
        runs = [sent(str(number), number) for number in range(10_000)]
        assert missing(runs, 10_000) == []
        assert missing(runs, 12_000) == []

    def test_is_what_was_sent_first(self) -> None:
        runs = [sent("late", 30), sent("early", 10), sent("middle", 20)]
        assert [one.run_id for one in missing(runs, 1)] == ["early", "middle"]

    def test_is_everything_when_the_queue_is_empty(self) -> None:
        assert len(missing([sent("a", 1), sent("b", 2)], 0)) == 2
