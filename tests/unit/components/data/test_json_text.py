"""JSON as people and models write it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.data.json_text import parse_json
from headgate.sdk import ComponentError

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class TestParseJson:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('\ufeff {"a": 1} ', {"a": 1}),
            ('```json\n{"a": "```"}\n```', {"a": "```"}),
            ("Here it is:\n```\n[1]\n```\nDone.", [1]),
            ('```json {"a": 1}```', {"a": 1}),
            ('{"code": "```js\\nx\\n```"}', {"code": "```js\nx\n```"}),
            ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
            ("99999999999999999999999", 1e23),
            ('"plain"', "plain"),
        ],
    )
    def test_understands(self, text: str, value: object) -> None:
        assert parse_json(text, subject="X") == value

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "it is empty."),
            ("{'a': 1}", "line 1, column 2"),
            ('{"a":\n nope}', "line 2, column"),
            ('{"a": NaN}', "unexpected character"),
            ("[" * 5000, "depth"),
            ('{"a": 1} and more', "after document"),
            ("\ud800", "UTF-8"),
        ],
    )
    def test_says_where_it_stops(self, text: str, words: str) -> None:
        with pytest.raises(ComponentError, match="X: the text is not JSON") as caught:
            parse_json(text, subject="X")
        assert words in str(caught.value)

    def test_refuses_a_text_without_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.components.data.json_text.LONGEST", 3)
        with pytest.raises(ComponentError, match="at most 3"):
            parse_json("[1,2]", subject="X")

    @given(values)
    def test_reads_any_json(self, value: object) -> None:
        assert parse_json(json.dumps(value), subject="X") == value
        assert parse_json(f"```json\n{json.dumps(value, indent=1)}\n```", subject="X") == value
