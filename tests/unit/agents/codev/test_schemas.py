"""What the sessions API takes."""

import pytest
from pydantic import ValidationError

from headgate.agents.codev.schemas import PlanAnswer


class TestPlanAnswer:
    @pytest.mark.parametrize(
        ("cases", "why"),
        [([], "at least 1 item"), ([{"name": "a"}, {"name": "a"}], "two test cases have the name 'a'")],
    )
    def test_takes_no_tests_that_nobody_could_tell_apart_or_that_are_none(
        self, cases: list[dict[str, str]], why: str
    ) -> None:
        with pytest.raises(ValidationError, match=why):
            PlanAnswer.model_validate({"type": "plan_approval", "approved": True, "cases": cases})
