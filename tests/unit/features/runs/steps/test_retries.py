from typing import Any

import orjson
import pytest

from headgate.features.catalog.registry import Registry
from headgate.features.models.errors import KeyRejected, ModelRateLimited
from headgate.features.runs.errors import StepTimeout
from headgate.features.runs.steps.planned import PlannedStep, prepare_step
from headgate.features.runs.steps.retries import delay, is_retried, next_attempt, seconds_left
from headgate.features.runs.transitions import Claim, Failed, StepRecord
from headgate.features.runs.waiting import Suspension, Tries
from headgate.foundation.errors import Cancelled, Invalid, UpstreamFailed
from headgate.foundation.settings import EngineSettings
from headgate.graph.model import Flow, FlowSettings, Node, RetryPolicy, StepPolicy
from headgate.graph.plan import compile_plan
from tests.support.engine import COMPONENTS

SECOND = 1_000_000
AWAY = UpstreamFailed("It is down.")
FIRST, PLAIN = Tries(), FlowSettings()


def planned(settings: FlowSettings = PLAIN, type_: str = "Start", **policy: Any) -> PlannedStep:
    registry = Registry(COMPONENTS)
    params = {"path": "tally"} if type_ == "Tally" else {}
    flow = Flow(nodes=(Node(id="one", type=type_, params=params, policy=StepPolicy(**policy)),))
    plan = compile_plan(flow, registry)
    return prepare_step(plan, plan.steps[0], registry, settings)


def failed(**record: Any) -> Failed:
    return Failed(Claim("one", 1), "upstream_failed", "It is down.", StepRecord(**record))


def after(step: PlannedStep, tries: Tries = FIRST, error: Exception = AWAY, **record: Any) -> Suspension | None:
    return next_attempt("run", step, tries, error, failed(**record), began=0, now=5 * SECOND)


class TestNextAttempt:
    def test_waits_for_the_delay_and_counts_the_failure(self) -> None:
        step = planned(retry=RetryPolicy(max_attempts=3, delay_seconds=10, jitter=0))
        found = after(step)
        assert found is not None
        assert (found.reason, found.until) == ("retry", 15 * SECOND)
        assert found.failure is not None
        assert (found.failure.tries.failures, found.failure.tries.since) == (1, 0)

    def test_is_none_when_all_attempts_were_used(self) -> None:
        step = planned(retry=RetryPolicy(max_attempts=3))
        assert after(step, Tries(1, 0)) is not None
        assert after(step, Tries(2, 0)) is None
        assert after(planned(retry=RetryPolicy(max_attempts=1))) is None
        assert after(planned()) is None

    def test_is_none_when_it_would_begin_after_the_limit_of_all(self) -> None:
        retry = RetryPolicy(max_attempts=9, delay_seconds=10, jitter=0)
        assert after(planned(retry=retry, total_timeout_seconds=16)) is not None
        assert after(planned(retry=retry, total_timeout_seconds=15)) is None

    def test_records_the_tokens_of_this_attempt_and_keeps_the_sum(self) -> None:
        step = planned(retry=RetryPolicy(max_attempts=3))
        found = after(step, Tries(1, 0, 100, 10), tokens_input=150, tokens_output=30, log='[{"message": "m"}]')
        assert found is not None
        assert found.failure is not None
        record = orjson.loads(found.failure.record)
        assert (record["tokens_input"], record["tokens_output"], record["log"]) == (50, 20, [{"message": "m"}])
        assert (found.failure.tries.tokens_input, found.failure.tries.tokens_output) == (150, 30)

    def test_of_the_flow_leave_out_steps_with_external_effects(self) -> None:
        settings = FlowSettings(retry=RetryPolicy(max_attempts=4))
        assert planned(settings).retry == settings.retry
        assert planned(settings, "Tally").retry is None
        own = RetryPolicy(max_attempts=2)
        assert planned(settings, "Tally", retry=own).retry == own


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            (AWAY, True),
            (StepTimeout("Too long."), True),
            (ModelRateLimited("Wait."), True),
            (KeyRejected("No."), False),
            (Invalid("Wrong."), False),
            (RuntimeError("A fault in the code."), False),
        ],
    )
    def test_that_may_pass_are_retried_without_codes(self, error: Exception, expected: bool) -> None:
        assert is_retried(RetryPolicy(max_attempts=2), error) is expected

    def test_are_those_of_the_list_where_there_is_one(self) -> None:
        some = RetryPolicy(max_attempts=2, codes=("invalid",))
        assert is_retried(some, Invalid("Wrong."))
        assert not is_retried(some, AWAY)
        every = RetryPolicy(max_attempts=2, codes=("*",))
        assert is_retried(every, RuntimeError("A fault in the code."))
        assert not is_retried(every, Cancelled("Stopped."))


class TestDelay:
    def test_doubles_up_to_the_maximum(self) -> None:
        retry = RetryPolicy(max_attempts=9, delay_seconds=2, max_delay_seconds=10, jitter=0)
        assert [delay(retry, failures, AWAY, "x") for failures in (1, 2, 3, 4, 5000)] == [2, 4, 8, 10, 10]

    def test_stays_when_it_is_fixed(self) -> None:
        retry = RetryPolicy(max_attempts=9, backoff="fixed", delay_seconds=7, jitter=0)
        assert [delay(retry, failures, AWAY, "x") for failures in (1, 5)] == [7, 7]

    def test_is_what_the_server_asks_for_within_the_maximum(self) -> None:
        retry = RetryPolicy(max_attempts=9, delay_seconds=1, max_delay_seconds=60, jitter=0)
        assert delay(retry, 1, ModelRateLimited("Wait.", retry_after_seconds=30), "x") == 30
        assert delay(retry, 1, ModelRateLimited("Wait.", retry_after_seconds=300), "x") == 60

    def test_varies_with_the_run_and_not_with_the_process(self) -> None:
        retry = RetryPolicy(max_attempts=9, backoff="fixed", delay_seconds=100, jitter=0.5)
        found = [delay(retry, 1, AWAY, f"run {number}") for number in range(50)]
        assert found == [delay(retry, 1, AWAY, f"run {number}") for number in range(50)]
        assert all(50 <= seconds <= 150 for seconds in found)
        assert max(found) - min(found) > 50


class TestTimeLimit:
    def test_is_that_of_the_step_up_to_the_maximum_of_the_installation(self) -> None:
        engine = EngineSettings(step_timeout_seconds=100, max_step_timeout_seconds=500)
        assert seconds_left(planned(), Tries(), engine, 0) == 100
        assert seconds_left(planned(timeout_seconds=5), Tries(), engine, 0) == 5
        assert seconds_left(planned(timeout_seconds=400), Tries(), engine, 0) == 400
        assert seconds_left(planned(timeout_seconds=4000), Tries(), engine, 0) == 500
        assert seconds_left(planned(timeout_seconds=400), Tries(), EngineSettings(step_timeout_seconds=100), 0) == 100
        assert seconds_left(planned(FlowSettings(step_timeout_seconds=7)), Tries(), engine, 0) == 7

    def test_is_what_is_left_of_the_limit_of_all_attempts(self) -> None:
        step = planned(total_timeout_seconds=60)
        engine = EngineSettings(step_timeout_seconds=100)
        assert seconds_left(step, Tries(), engine, 0) == 60
        assert seconds_left(step, Tries(1, 0), engine, 50 * SECOND) == 10
        assert seconds_left(step, Tries(1, 0), engine, 90 * SECOND) == 0
