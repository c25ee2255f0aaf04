from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.toolkit.stored.batching import BadReference, resolve

ANSWERS: list[dict[str, Any]] = [
    {"flow_id": "f1", "nodes": 2, "flows": [{"id": "a"}, {"id": "b", "tags": ["x", "y"]}]},
    {"ok": True, "nothing": None, "with-dash": 1},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


class TestResolve:
    @pytest.mark.parametrize(
        ("reference", "value"),
        [
            ("$0.flow_id", "f1"),
            ("$0.nodes", 2),
            ("$0.flows.1.id", "b"),
            ("$0.flows.1.tags.0", "x"),
            ("$0.flows", ANSWERS[0]["flows"]),
            ("$1.nothing", None),
            ("$1.with-dash", 1),
        ],
    )
    def test_gives_what_the_reference_names(self, reference: str, value: Any) -> None:
        assert resolve(reference, ANSWERS) == value

    def test_looks_into_lists_and_objects(self) -> None:
        given_value = {"a": ["$0.flow_id", {"b": "$0.nodes"}], "$0.flow_id": 1}
        assert resolve(given_value, ANSWERS) == {"a": ["f1", {"b": 2}], "$0.flow_id": 1}

    @pytest.mark.parametrize(
        "text",
        [
            "$5.00",
            "$0",
            "$x.y",
            "It costs $0.flow_id",
            "$0.flow_id ",
            "$0.",
            "$-1.a",
            "$0.flow_id\n",
            "$99999.a",
            "$٣.a",
        ],
    )
    def test_leaves_other_texts_alone(self, text: str) -> None:
        assert resolve(text, ANSWERS) == text

    def test_takes_two_dollars_for_one(self) -> None:
        assert resolve("$$0.flow_id", []) == "$0.flow_id"
        assert resolve("$$cash", []) == "$$cash"

    @pytest.mark.parametrize(
        ("reference", "says"),
        [
            ("$2.flow_id", "refers to action 2, which has no result"),
            ("$0.flow", "did you mean 'flows'"),
            ("$0.flows.7.id", "$0.flows is a list of 2"),
            ("$0.flow_id.more", "$0.flow_id is a plain value"),
            ("$0.flows.name", "$0.flows is a list of 2"),
        ],
    )
    def test_says_what_is_wrong_with_a_reference(self, reference: str, says: str) -> None:
        with pytest.raises(BadReference) as caught:
            resolve({"deep": [reference]}, ANSWERS)
        assert reference in caught.value.detail
        assert says in caught.value.detail
        assert caught.value.remedy

    @given(JSON)
    def test_changes_nothing_that_holds_no_reference(self, value: Any) -> None:
        if "$" not in str(value):
            assert resolve(value, ANSWERS) == value

    @given(st.from_regex(r"\A\$\d{1,6}(\.[a-z0-9_]{1,8}){0,4}\Z"))
    def test_never_raises_another_error(self, text: str) -> None:
        with suppress(BadReference):
            resolve(text, ANSWERS)

    def test_name_no_more_together_than_a_request_may_hold(self) -> None:
        answers = [{"spec": "x" * 6_000}]
        assert len(resolve(["$0.spec"] * 100, answers)) == 100
        with pytest.raises(BadReference, match="more than 1000000 bytes"):
            resolve({"params": {"a": ["$0.spec"] * 300_000}}, answers)
