"""Codes of retries that no error has."""

import pytest

from headgate.graph.error_codes import retry_code_issues
from headgate.graph.model import Flow, FlowSettings, Node, RetryPolicy, StepPolicy


def flow(*codes: str) -> Flow:
    retry = RetryPolicy(max_attempts=2, codes=codes)
    return Flow(nodes=(Node(id="a", type="X", policy=StepPolicy(retry=retry)),), settings=FlowSettings(retry=retry))


class TestRetryCodeIssues:
    def test_names_the_nearest_known_code_of_a_step_and_of_the_flow(self) -> None:
        issues = list(retry_code_issues(flow("model_rate_limted")))
        assert [(issue.node, issue.severity) for issue in issues] == [("", "warning"), ("a", "warning")]
        assert all("did you mean 'model_rate_limited'?" in issue.message for issue in issues)

    def test_names_one_that_is_like_none(self) -> None:
        (of_flow, _) = retry_code_issues(flow("zzz"))
        assert of_flow.message == "the retries of the flow name the error code 'zzz', which no error has."

    @pytest.mark.parametrize("codes", [(), ("*",), ("step_timeout", "component_error", "budget_exceeded")])
    def test_accepts_known_codes(self, codes: tuple[str, ...]) -> None:
        assert list(retry_code_issues(flow(*codes))) == []
