"""Errors of flow tests."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Invalid, NotFound


class NoTests(Invalid):
    """There are no tests to run."""

    code = "no_tests"
    detail = "The flow has no tests."
    remedy = "Add one on the flow's page under Tests, or with `headgate tests set`."


class TestSetInvalid(Invalid):
    """The cases are not a valid set."""

    __test__ = False
    code = "test_set_invalid"
    title = "Invalid set of tests"


class StaleTests(Conflict):
    """The tests changed since the caller read them. Carries the current `revision`; nothing was overwritten."""

    code = "stale_tests"
    title = "The tests have changed"
    remedy = (
        "Read the tests again, apply your change and send them with their revision. On the "
        "command line, --force overwrites them."
    )

    def __init__(self, current: str) -> None:
        super().__init__(
            "The tests of this flow have changed since you read them. Nothing was overwritten.", revision=current
        )


class TestsRunning(Conflict):
    """The flow's tests are running. Carries the `result_id`."""

    __test__ = False
    code = "tests_running"
    title = "Tests are running"
    remedy = "Wait until they have finished, or cancel them."

    def __init__(self, result_id: str) -> None:
        super().__init__("The tests of this flow are already running.", result_id=result_id)


class JudgeRefused(Invalid):
    """A model cannot judge an answer, or returned no verdict."""

    code = "judge_refused"
    title = "Not judged"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, remedy="Choose another `judge_model` in the test, or remove it.")


class TestResultNotFound(NotFound):
    """The caller can view no such result."""

    __test__ = False
    code = "test_result_not_found"

    def __init__(self, result_id: str | None = None) -> None:
        """With this id; by default any."""
        if result_id is not None:
            detail, remedy = (
                f"There is no test result '{result_id[:40]}' of this flow.",
                ("List the results to see their ids."),
            )
        else:
            detail, remedy = "The tests of this flow have not been run yet.", "Run them first."
        super().__init__(detail, remedy=remedy)


class TestsRequired(Conflict):
    """The flow may be published only when its tests pass. Carries the `state`, and `failed`: names of cases."""

    __test__ = False
    code = "tests_required"
    title = "Tests must pass first"

    def __init__(self, state: str, detail: str, remedy: str, failed: Sequence[str] = ()) -> None:
        super().__init__(detail, remedy=remedy, state=state, failed=list[JsonValue](failed))
