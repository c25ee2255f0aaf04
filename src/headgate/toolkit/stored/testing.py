"""Operations on a flow's tests: read, save, run, results."""

from typing import Annotated, NotRequired

from pydantic import Field, JsonValue, WithJsonSchema
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, bringing
from headgate.features.testing import results, service
from headgate.features.testing.errors import TestResultNotFound
from headgate.features.testing.runner import TestRuns
from headgate.features.testing.schemas import MOST_TRIALS, TrialOut
from headgate.foundation.errors import Unavailable
from headgate.foundation.quoting import shortened
from headgate.graph.cases import TestCase
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_FAILURES = 20
MOST_CHARACTERS = 14_000
"""Characters of tests in one result; a longer one is returned alone."""
_GLIMPSE = 300
Cases = Annotated[list[TestCase], WithJsonSchema({"type": "array", "items": {"type": "object"}})]
"""The description and read_grammar list their members: a schema of them would cost as much as ten tools."""
Trials = Annotated[int, Field(ge=0, le=MOST_TRIALS)]


class TestList(TypedDict):
    """A flow's tests, and their status for its draft."""

    flow_id: str
    revision: str
    tests: list[dict[str, JsonValue]]
    standing: str
    failed: list[str]
    required: bool
    required_trials: int
    result_id: NotRequired[str]
    """Id of the result in progress, else of the deciding one."""
    more: NotRequired[str]


class SavedTests(TypedDict):
    """A flow's tests after a change."""

    flow_id: str
    tests: int
    revision: str


class FailedTrial(TypedDict):
    """A failed trial."""

    test: str
    trial: int
    why: str
    answer: str
    run_id: str


class TestsOutcome(TypedDict):
    """Outcome of the tests, or that they have started."""

    result_id: str
    status: str
    version: int
    passed: int
    of: int
    tokens: int
    failures: list[FailedTrial]
    reason: NotRequired[str]
    remedy: NotRequired[str]
    hint: NotRequired[str]


class TestsCancelled(TypedDict):
    """Outcome of a cancel request."""

    result_id: str
    status: str
    changed: bool


async def get_tests(visit: Visit, flow_id: str, after: str = "") -> TestList:
    """Read the tests of a flow, and whether its draft passed them.

    Args:
        flow_id: Id of the flow.
        after: Last test of the previous page.
    """
    async with visit.studio.database.reading() as session:
        tests = await results.read_tests(session, visit.principal, visit.studio.registry, flow_id)
    names = [case.name for case in tests.cases]
    left = tests.cases[names.index(after) + 1 :] if after in names else tests.cases
    shown = _page(left)
    answer: TestList = {
        "flow_id": flow_id,
        "revision": tests.revision,
        "tests": [case.model_dump(mode="json", exclude_defaults=True) for case in shown],
        "standing": tests.standing.state,
        "failed": tests.standing.failed,
        "required": tests.required,
        "required_trials": tests.required_trials,
    }
    result_id = tests.running or tests.standing.result_id
    if result_id is not None:
        answer["result_id"] = result_id
    if len(shown) < len(left):
        answer["more"] = f"There are more: call again with after='{shown[-1].name}'."
    return answer


async def save_tests(visit: Visit, flow_id: str, tests: Cases, revision: str = "") -> SavedTests:
    """Add tests to a flow; one of the same name is replaced.

    Args:
        flow_id: Id of the flow.
        tests: Each {name, text, form, file_ids, expect: {contains, excludes, equals, matches, json_schema, ...}}.
        revision: From get_tests; refused if the tests have changed since.
    """
    async with visit.studio.database.writing() as session:
        cases = await service.keep_cases(session, visit.principal, flow_id, tests, revision=revision or None)
    return {"flow_id": flow_id, "tests": len(cases), "revision": service.revision_of(cases)}


async def run_tests(
    visit: Visit,
    flow_id: str,
    trials: Trials = 0,
    wait: bool = True,  # noqa: FBT001, FBT002 - an argument of a tool
) -> TestsOutcome:
    """Run the saved tests of a flow and wait.

    Args:
        flow_id: Id of the flow.
        trials: Runs of each, 10 at most; 0: as the flow requires.
        wait: false: return once they have started; then poll get_test_result.
    """
    tests, principal = _tests(visit), visit.principal

    def report(line: TrialOut) -> None:
        if wait:  # otherwise nobody listens any more
            visit.report(f"test {line.name}, trial {line.trial}: {'passed' if line.passed else 'failed'}")

    result_id = await tests.begin(principal, flow_id, trials=trials or None, report=report, again=visit.again)
    if wait:
        try:
            await tests.wait(result_id)
        finally:  # a client that disconnects cancels them; no effect on ended ones
            await tests.cancel(principal, flow_id, result_id)
    return await _outcome(visit, bringing(principal, Permission.RUNS_VIEW), flow_id, result_id)


async def get_test_result(visit: Visit, flow_id: str, result_id: str = "") -> TestsOutcome:
    """Return the result or progress of a flow's test run.

    Args:
        flow_id: Id of the flow.
        result_id: From run_tests; the newest when empty.
    """
    if not result_id:
        reader = bringing(visit.principal, Permission.FLOWS_VIEW)
        async with visit.studio.database.reading() as session:
            newest = await results.list_results(session, reader, flow_id, limit=1)
        if not newest:
            raise TestResultNotFound
        result_id = newest[0].id
    return await _outcome(visit, visit.principal, flow_id, result_id)


async def cancel_tests(visit: Visit, flow_id: str, result_id: str) -> TestsCancelled:
    """Cancel a flow's running tests and their runs. Has no effect on ended ones.

    Args:
        flow_id: Id of the flow.
        result_id: From run_tests.
    """
    changed = await _tests(visit).cancel(visit.principal, flow_id, result_id)
    outcome = await _outcome(visit, bringing(visit.principal, Permission.RUNS_VIEW), flow_id, result_id)
    return {"result_id": result_id, "status": outcome["status"], "changed": changed}


async def _outcome(visit: Visit, principal: Principal, flow_id: str, result_id: str) -> TestsOutcome:
    async with visit.studio.database.reading() as session:
        result = await results.read_result(session, principal, flow_id, result_id)
    failed = [line for line in result.lines if not line.passed]
    answer: TestsOutcome = {
        "result_id": result_id,
        "status": result.status,
        "version": result.version,
        "passed": result.done - result.failures,
        "of": result.of,
        "tokens": sum(line.tokens for line in result.lines),
        "failures": [_failure(line) for line in failed[:MOST_FAILURES]],
    }
    if result.reason:
        answer["reason"] = result.reason
    if result.status == "running":
        answer["hint"] = "get_test_result returns the progress; cancel_tests stops it."
    elif failed:
        answer["remedy"] = "read_run shows each step of a failed run; correct the flow or its tests and run again."
    return answer


def _tests(visit: Visit) -> TestRuns:
    if visit.studio.tests is None:
        raise Unavailable("Tests cannot be run here.", remedy="Run them on the server.")
    return visit.studio.tests


def _page(cases: list[TestCase]) -> list[TestCase]:
    """Return as many tests as fit one result; at least one."""
    room, shown = MOST_CHARACTERS, list[TestCase]()
    for case in cases:
        room -= len(case.model_dump_json(exclude_defaults=True))
        if room < 0 and shown:
            break
        shown.append(case)
    return shown


def _failure(line: TrialOut) -> FailedTrial:
    why = line.error or "; ".join(f"the answer {miss}" for miss in line.misses)
    return {
        "test": line.name,
        "trial": line.trial,
        "why": shortened(why, 1000),
        "answer": shortened(line.answer, _GLIMPSE),
        "run_id": line.run_id,
    }


OPERATIONS: tuple[Row, ...] = (
    (get_tests, Permission.FLOWS_VIEW, "read"),
    (save_tests, Permission.FLOWS_EDIT, "set"),
    (run_tests, Permission.RUNS_TEST, "run"),
    (get_test_result, Permission.RUNS_VIEW, "read"),
    (cancel_tests, Permission.RUNS_TEST, "set"),
)
