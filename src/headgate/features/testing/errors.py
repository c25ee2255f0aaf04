"""What can go wrong with tests of a flow."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Invalid, NotFound


class NoTests(Invalid):
    """There is nothing to run."""

    code = "no_tests"
    title = "No tests"

    def __init__(self) -> None:
        super().__init__(
            "The flow has no tests.", remedy="Add one: on the flow's page under Tests, or with `headgate tests set`."
        )


class TestSetInvalid(Invalid):
    """The cases do not make a set."""

    __test__ = False
    code = "test_set_invalid"
    title = "The tests do not make a set"


class StaleTests(Conflict):
    """The tests changed since the caller read them. Carries the `revision` in force; nothing was overwritten."""

    code = "stale_tests"
    title = "The tests have changed"

    def __init__(self, current: str) -> None:
        super().__init__(
            "The tests of this flow are not those that you read. Nothing was overwritten.",
            remedy="Read the tests again, make your change in them and send them with the revision you read. On the "
            "command line, --force replaces whatever is there.",
            revision=current,
        )


class TestsRunning(Conflict):
    """The flow's tests are being run. Carries the `result_id`."""

    __test__ = False
    code = "tests_running"
    title = "The tests are being run"

    def __init__(self, result_id: str) -> None:
        super().__init__(
            "The tests of this flow are being run.",
            remedy="Wait until they are over, or cancel them.",
            result_id=result_id,
        )


class TestResultNotFound(NotFound):
    """The caller sees no such result."""

    __test__ = False
    code = "test_result_not_found"
    title = "Test result not found"

    def __init__(self, result_id: str | None = None) -> None:
        """Of this id; without one: of any."""
        if result_id is not None:
            detail, remedy = f"There is no test result '{result_id[:40]}' of this flow.", "List the results for ids."
        else:
            detail, remedy = "The tests of this flow were not run yet.", "Run them, then there is a result."
        super().__init__(detail, remedy=remedy)


class TestsRequired(Conflict):
    """The flow may be published only when its tests pass. Carries the `state`, and `failed`: names of cases."""

    __test__ = False
    code = "tests_required"
    title = "Tests have to pass first"

    def __init__(self, state: str, detail: str, remedy: str, failed: Sequence[str] = ()) -> None:
        super().__init__(detail, remedy=remedy, state=state, failed=list[JsonValue](failed))
