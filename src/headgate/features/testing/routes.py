"""HTTP routes of a flow's tests."""

from typing import Annotated

from fastapi import Depends, Response

from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import bringing
from headgate.features.catalog.registry import Registry
from headgate.features.idempotency.http import Once
from headgate.features.idempotency.keys import StartKey
from headgate.features.testing import results, service
from headgate.features.testing.from_questions import add_question_tests
from headgate.features.testing.runner import TestRuns
from headgate.features.testing.schemas import (
    QuestionTestsIn,
    QuestionTestsOut,
    TestResultOut,
    TestResultSummary,
    TestRunIn,
    TestSetIn,
    TestSetOut,
)
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    WriteSession,
    get_database,
    page_of,
    parse_cursor,
    part,
)
from headgate.foundation.database import Database

LONGEST_WAIT_SECONDS = 300.0
router = Routes(prefix="/flows/{flow_id}/tests", tags=["tests"])
VIEW, EDIT, RUN = needs(Permission.FLOWS_VIEW), needs(Permission.FLOWS_EDIT), needs(Permission.RUNS_TEST)
ANSWERS = needs(Permission.RUNS_VIEW)


Components = Annotated[Registry, part("registry")]
Tests = Annotated[TestRuns, part("tests")]
Rows = Annotated[Database, Depends(get_database)]


@router.get("", "Read a flow's tests", [VIEW], problems=(404,))
async def read(flow_id: str, session: ReadSession, caller: Caller, catalog: Components) -> TestSetOut:
    """The test cases of a flow, and the test status of its draft."""
    return await results.read_tests(session, caller, catalog, flow_id)


@router.put("", "Replace a flow's tests", [EDIT], problems=(403, 404, 409))
async def replace(
    flow_id: str, body: TestSetIn, session: WriteSession, caller: Caller, catalog: Components
) -> TestSetOut:
    """Replace the test cases of a flow. A case has a name, an input, and expectations of the output.

    When they were changed since the caller read them: 409 with the current `revision`, and nothing is overwritten.
    """
    await service.replace_cases(session, caller, flow_id, body.cases, revision=body.revision)
    return await results.read_tests(session, bringing(caller, Permission.FLOWS_VIEW), catalog, flow_id)


@router.post(
    "/questions", "Add tests from the questions of a knowledge base", [EDIT], status_code=201, problems=(403, 404, 409)
)
async def add_questions(flow_id: str, body: QuestionTestsIn, session: WriteSession, caller: Caller) -> QuestionTestsOut:
    """Add a test for each question: it expects the reference answer, and passages of the documents that answer it."""
    return await add_question_tests(session, caller, flow_id, body)


@router.post("/run", "Run a flow's tests", [RUN], status_code=202, problems=(403, 404, 409))
async def run(
    flow_id: str,
    database: Rows,
    caller: Caller,
    again: CallerAgain,
    tests: Tests,
    response: Response,
    once: Once,
    body: TestRunIn | None = None,
) -> TestResultOut:
    """Freeze the draft and run every case on it, each trial as a separate run with its own evidence.

    Responds 202 with a `running` result, or with `wait` 200 when it is finished; after five minutes in any case.
    """
    options = body or TestRunIn()

    async def begin(key: StartKey | None) -> str:
        return await tests.begin(caller, flow_id, trials=options.trials, again=again, once=key)

    async def may_read(result_id: str) -> None:
        async with database.reading() as session:
            await results.read_result(session, caller, flow_id, result_id)

    result_id = await once.begin(begin, may_read=may_read)
    if options.wait:
        await tests.wait(result_id, seconds=LONGEST_WAIT_SECONDS)
    async with database.reading() as session:
        result = await results.read_result(session, bringing(caller, Permission.RUNS_VIEW), flow_id, result_id)
    response.status_code = 200 if options.wait and result.status != "running" else 202
    return result


@router.get("/results", "List test results", [VIEW], problems=(404,))
async def list_results(
    flow_id: str, session: ReadSession, caller: Caller, limit: Limit = 20, cursor: Cursor = None
) -> Page[TestResultSummary]:
    """List test results, newest first. The newest fifty are kept."""
    rows = await results.list_results(session, caller, flow_id, limit=limit + 1, before=parse_cursor(cursor))
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.get("/results/{result_id}", "Read a test result", [ANSWERS], problems=(404,))
async def read_result(flow_id: str, result_id: str, session: ReadSession, caller: Caller) -> TestResultOut:
    """A result with every finished trial and its faults."""
    return await results.read_result(session, caller, flow_id, result_id)


@router.post("/results/{result_id}/cancel", "Cancel a test run", [RUN], problems=(403, 404))
async def cancel(flow_id: str, result_id: str, database: Rows, caller: Caller, tests: Tests) -> TestResultOut:
    """Cancel a test run and its current runs. No effect on a finished one."""
    await tests.cancel(caller, flow_id, result_id)
    async with database.reading() as session:
        return await results.read_result(session, bringing(caller, Permission.RUNS_VIEW), flow_id, result_id)
