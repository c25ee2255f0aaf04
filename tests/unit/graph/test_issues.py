import pytest

from headgate.graph.issues import FlowInvalid, Issue, IssueCode, raise_if_any

CYCLE = Issue(IssueCode.CYCLE, "a -> b -> a", "Cut it.", edge="b.x -> a.y")
ORPHAN = Issue(IssueCode.ORPHAN, "'c' is alone.", "Connect it.", node="c", line=7)


class TestIssue:
    def test_leads_with_its_line(self) -> None:
        assert str(ORPHAN) == "line 7: 'c' is alone."

    def test_leaves_empty_members_out_of_its_json(self) -> None:
        assert CYCLE.as_json() == {
            "code": "cycle",
            "message": "a -> b -> a",
            "remedy": "Cut it.",
            "edge": "b.x -> a.y",
        }


class TestFlowInvalid:
    def test_carries_every_issue_into_the_problem_document(self) -> None:
        document = FlowInvalid([CYCLE, ORPHAN]).problem()
        assert document["detail"] == "a -> b -> a (and 1 more fault)"
        assert document["remedy"] == "Cut it."
        assert document["issues"] == [CYCLE.as_json(), ORPHAN.as_json()]

    def test_gives_a_line_an_issue(self) -> None:
        assert FlowInvalid([CYCLE, ORPHAN]).lines() == ["a -> b -> a Cut it.", "line 7: 'c' is alone. Connect it."]

    def test_is_never_raised_for_nothing(self) -> None:
        raise_if_any([])
        with pytest.raises(FlowInvalid):
            raise_if_any([CYCLE])
        with pytest.raises(ValueError, match="at least one"):
            FlowInvalid([])
