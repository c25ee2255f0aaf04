"""Conditions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.conditions import Operator, holds
from headgate.sdk import ComponentError


class TestHolds:
    @pytest.mark.parametrize(
        ("value", "operator", "compare", "answer"),
        [
            ("Hello World", "contains", "WORLD", True),
            ("Hello", "contains", "bye", False),
            (["Red", "blue"], "contains", "red", True),
            (["redder"], "contains", "red", False),
            ({"Total": 1}, "contains", "total", True),
            ([1, 2], "contains", "2", True),
            (None, "contains", "x", False),
            ("a", "does not contain", "b", True),
            (" Yes ", "equals", "yes", True),
            (10, "equals", "10.0", True),
            (10, "equals", "ten", False),
            (True, "equals", "TRUE", True),
            (True, "equals", "1", False),
            (None, "equals", "", True),
            ("STRASSE", "equals", "straße", True),
            ([1], "equals", "[\n  1\n]", True),
            ("a", "does not equal", "b", True),
            ("10", "is greater than", "9", True),
            ("1 000", "is greater than", "999", True),
            (-1.5, "is less than", "0", True),
            ([1, 2, 3], "is greater than", "2", True),
            (10000, "is at least", "10000", True),
            ("9999.5", "is at least", "10000", False),
            (3, "is at most", "3", True),
            (3.01, "is at most", "3", False),
            ("", "is empty", "", True),
            (" \n", "is empty", "", True),
            ([], "is empty", "", True),
            (0, "is empty", "", False),
            (False, "is empty", "", False),
            ("x", "is not empty", "", True),
            ("Order 66", "matches", r"order \d+", True),
            ("Order", "matches", r"^\d", False),
        ],
    )
    def test_answers_as_a_person_would(self, value: Any, operator: Operator, compare: str, answer: bool) -> None:
        assert holds(value, operator, compare) is answer

    @pytest.mark.parametrize(("operator", "value"), [("contains", "Hello"), ("equals", "hello"), ("matches", "hello")])
    def test_can_mind_the_case(self, operator: Operator, value: str) -> None:
        compare = "hello" if operator == "contains" else "Hello"
        assert holds(value, operator, compare, ignore_case=True)
        assert not holds(value, operator, compare, ignore_case=False)

    @pytest.mark.parametrize(
        ("value", "operator", "compare", "words"),
        [
            ("abc", "is greater than", "5", "value is 'abc', which is not a number"),
            (5, "is less than", "many", "compare is 'many'"),
            (None, "is less than", "5", "value is null"),
            ("x", "contains", "", "If: the operator"),
            ("x", "matches", "(?=x)", "is not a valid RE2 regular expression"),
        ],
    )
    def test_says_when_it_cannot_say(self, value: Any, operator: Operator, compare: str, words: str) -> None:
        with pytest.raises(ComponentError) as caught:
            holds(value, operator, compare)
        assert words in str(caught.value)

    @given(st.text(max_size=10), st.text(min_size=1, max_size=5))
    def test_a_negation_is_the_opposite(self, value: str, compare: str) -> None:
        assert holds(value, "contains", compare) != holds(value, "does not contain", compare)
        assert holds(value, "equals", compare) != holds(value, "does not equal", compare)
        assert holds(value, "is empty", "") != holds(value, "is not empty", "")
