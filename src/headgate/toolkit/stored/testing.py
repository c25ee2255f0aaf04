"""Operations on a flow's tests."""

from typing import NotRequired

from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import bringing
from headgate.features.testing import results, service
from headgate.features.testing.schemas import TrialOut
from headgate.foundation.errors import Unavailable
from headgate.graph.cases import TestCase
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_FAILURES = 20
_GLIMPSE = 300


class SavedTests(TypedDict):
    """A flow's tests after a change."""

    flow_id: str
    tests: int


class FailedTrial(TypedDict):
    """A trial that did not pass."""

    test: str
    trial: int
    why: str
    answer: str
    run_id: str


class TestsOutcome(TypedDict):
    """What running the tests came to."""

    result_id: str
    status: str
    version: int
    passed: int
    of: int
    tokens: int
    failures: list[FailedTrial]
    remedy: NotRequired[str]


async def save_tests(visit: Visit, flow_id: str, tests: list[TestCase]) -> SavedTests:
    """Add tests to a flow; one of the same name is replaced. A test is an input and what has to hold for the answer.

    Args:
        flow_id: Id of the flow.
        tests: What is kept. Without anything expected, an answer that is not empty will do.
    """
    async with visit.studio.database.writing() as session:
        count = await service.keep_cases(session, visit.principal, flow_id, tests)
    return {"flow_id": flow_id, "tests": count}


async def run_tests(visit: Visit, flow_id: str, trials: int = 0) -> TestsOutcome:
    """Run the saved tests of a flow's draft and wait; each trial is a run whose evidence is kept.

    Args:
        flow_id: Id of the flow.
        trials: How often each test is run, 10 at most; 0: as often as the flow requires before it is published.
    """
    tests, principal = visit.studio.tests, visit.principal
    if tests is None:
        raise Unavailable("No tests can be run here.", remedy="Run them on the server.")

    def tell(line: TrialOut) -> None:
        visit.tell(f"test {line.name}, trial {line.trial}: {'passed' if line.passed else 'failed'}")

    result_id = await tests.begin(principal, flow_id, trials=min(trials, 10) if trials > 0 else None, tell=tell)
    try:
        await tests.wait(result_id)
    finally:  # a client that gives up ends them; of what is over nothing changes
        await tests.cancel(principal, flow_id, result_id)
    async with visit.studio.database.reading() as session:
        found = await results.read_result(session, bringing(principal, Permission.RUNS_VIEW), flow_id, result_id)
    failed = [line for line in found.lines if not line.passed]
    answer: TestsOutcome = {
        "result_id": result_id,
        "status": found.status,
        "version": found.version,
        "passed": found.done - found.failures,
        "of": found.of,
        "tokens": sum(line.tokens for line in found.lines),
        "failures": [_failure(line) for line in failed[:MOST_FAILURES]],
    }
    if failed:
        answer["remedy"] = "get_run shows every step of a run that failed; correct the flow or its tests and run again."
    return answer


def _failure(line: TrialOut) -> FailedTrial:
    why = line.error or "; ".join(f"the answer {miss}" for miss in line.misses)
    return {
        "test": line.name,
        "trial": line.trial,
        "why": why[:1000],
        "answer": line.answer[:_GLIMPSE],
        "run_id": line.run_id,
    }


OPERATIONS: tuple[Row, ...] = (
    (save_tests, Permission.FLOWS_EDIT, "set"),
    (run_tests, Permission.RUNS_TEST, "run"),
)
