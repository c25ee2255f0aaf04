import pytest

from headgate.graph.model import Flow, Node
from headgate.toolkit.stored.shown import MOST_CHARACTERS, RedactedValue, cut_text, refuse_redacted, shown_flow

KEY = "sk-abcdefghijklmnop1234"


class TestShownFlow:
    def test_hides_keys_and_keeps_names_of_variables(self) -> None:
        params = {"headers": {"Authorization": f"Bearer {KEY}"}, "api_key": "OPENAI_API_KEY", "list": [KEY, 1]}
        shown = shown_flow(Flow(nodes=(Node(id="a", type="HTTPRequest", params=params),)))
        assert KEY not in str(shown)
        assert shown.nodes[0].params["api_key"] == "OPENAI_API_KEY"
        assert shown.nodes[0].params["list"] == ["[redacted]", 1]


class TestRefuseRedacted:
    @pytest.mark.parametrize("value", ["[redacted]", {"a": ["Bearer [redacted]"]}, {"spec": "x: [redacted]"}])
    def test_keeps_the_mark_from_taking_a_secrets_place(self, value: object) -> None:
        with pytest.raises(RedactedValue):
            refuse_redacted(value)

    def test_lets_everything_else_through(self) -> None:
        refuse_redacted({"a": ["text", 1, None, {"redacted": True}]})


class TestCutText:
    def test_says_how_to_get_the_rest(self) -> None:
        found = cut_text("x" * (MOST_CHARACTERS + 5), "Read the resource.")
        assert found.endswith("[5 more characters. Read the resource.]")
        assert cut_text("short") == "short"
