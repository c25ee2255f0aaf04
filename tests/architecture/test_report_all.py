"""A test of many items reports every one that fails, and fails where it checked none."""

import pytest

from tests.support.report_all import report_all


def check_all(*numbers: int, after: int = 1) -> float:
    """Fail for each number but 2, and divide by `after` at the end."""
    with report_all() as item:
        for number in numbers:
            with item(f"number {number}"):
                assert number == 2
        return 1 / after


class TestReportAll:
    def test_reports_each_item_that_fails_with_its_name(self) -> None:
        with pytest.raises(ExceptionGroup, match="2 of 3 items failed") as caught:
            check_all(1, 2, 3)
        assert [failure.__notes__ for failure in caught.value.exceptions] == [["in number 1"], ["in number 3"]]

    def test_passes_where_each_item_does(self) -> None:
        assert check_all(2, 2) == 1

    def test_fails_where_there_was_no_item(self) -> None:
        with pytest.raises(AssertionError, match="no item was checked"):
            check_all()

    def test_lets_other_failures_through(self) -> None:
        with pytest.raises(ZeroDivisionError):
            check_all(2, after=0)
