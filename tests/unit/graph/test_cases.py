"""What has to hold for an answer: each kind holds and fails, and checking never raises."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from headgate.graph.cases import Expectation, Outcome, TestCase, misses
from headgate.graph.statements import NO_ANSWER

SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}


class TestMisses:
    @pytest.mark.parametrize(
        ("expected", "good", "bad", "told"),
        [
            ({"contains": ["Grüße", "2"]}, "2 GRÜSSE", "grüße", "does not contain '2'"),
            ({"excludes": ["Sorry"]}, "Hello", "I am SORRY", "contains 'Sorry'"),
            ({"equals": " yes\n"}, "yes ", "Yes", "is not 'yes'"),
            ({"equals": ""}, "  ", "x", "is not ''"),
            ({"matches": r"^\d{3}-\d{2}$"}, "123-45", "123-4", "does not match"),
            ({"json_schema": SCHEMA}, '{"name": "Ada"}', '{"name": 1}', "does not satisfy its schema: $.name"),
            ({"json_schema": SCHEMA}, '{"name": "Ada"}', "Ada", "is not JSON"),
            ({}, "anything", " \n", "is empty"),
            (
                {"reference": "27 days of holiday"},
                "You get 27 holidays",
                "You get 25 days of holiday",
                "lacks the number 27",
            ),
            ({"reference": "Trains are preferred"}, "Prefer trains", "Take a plane", "lacks 2 of 2 words"),
            ({"reference": "No."}, "No, it is not.", "Yes, it is.", "lacks 1 of 1 words"),
            ({"reference": "Ja"}, "ja, visst", "nej", "lacks 1 of 1 words"),
            ({"supported": True}, "27 days. [1]", "Thirty days. [not supported]", "has sentences that no passage"),
            ({"supported": True}, "27 days. [1]", NO_ANSWER, "is not supported by any passage"),
        ],
    )
    def test_tell_what_does_not_hold_and_nothing_else(
        self, expected: dict[str, Any], good: str, bad: str, told: str
    ) -> None:
        expectation = Expectation(**expected)
        assert misses(expectation, Outcome(good)) == []
        (line,) = misses(expectation, Outcome(bad))
        assert line.startswith(told)

    def test_tell_everything_that_does_not_hold(self) -> None:
        expectation = Expectation(contains=["a", "b"], excludes=["x"], equals="ab", matches="^a")
        assert len(misses(expectation, Outcome("x"))) == 5

    def test_tell_which_documents_the_run_did_not_receive(self) -> None:
        expectation = Expectation(documents=["handbook.md", "menu.md"])
        assert misses(expectation, Outcome("x", {"handbook.md"})) == ["is based on no passage of 'menu.md'"]
        assert misses(expectation, Outcome("x", {"handbook.md", "menu.md"})) == []

    def test_of_a_judged_reference_are_those_of_the_judge(self) -> None:
        expectation = Expectation(reference="27 days", judge_model="openai/gpt-5-mini")
        assert misses(expectation, Outcome("twenty-seven days")) == []
        assert misses(expectation, Outcome("27 days", objection="It is 28.")) == ["was judged as wrong: It is 28."]

    def test_stay_short_whatever_was_expected(self) -> None:
        expectation = Expectation(contains=["a" * 20_000], equals="b" * 50_000)
        assert max(len(line) for line in misses(expectation, Outcome("c"))) < 300

    @given(
        st.text(max_size=200),
        st.lists(st.text(min_size=1, max_size=5), max_size=3),
        st.none() | st.text(max_size=5),
        st.sampled_from([None, "a+", "(?i)x|y", r"\p{L}"]),
        st.sampled_from([None, {}, SCHEMA, {"type": ["array", "null"]}, {"enum": [1]}]),
    )
    def test_never_raise(
        self, answer: str, texts: list[str], equals: str | None, matches: str | None, schema: Any
    ) -> None:
        try:
            expectation = Expectation(
                contains=texts, excludes=texts, equals=equals, matches=matches, json_schema=schema
            )
        except ValidationError:  # a text that no database stores
            return
        found = misses(expectation, Outcome(answer))
        assert len(found) >= len(texts), "a text is either missing or there"

    @pytest.mark.parametrize("answer", ["\ud800", "[" * 5000, '{"a": NaN}', '{"a": 1, "a": 2}', "\x00", "9" * 5000])
    def test_never_raise_for_what_models_come_up_with(self, answer: str) -> None:
        assert misses(Expectation(json_schema=SCHEMA, matches="b"), Outcome(answer))


class TestExpectation:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"matches": "("},
            {"matches": "(?=look)"},
            {"json_schema": {"type": "strin"}},
            {"json_schema": {"minLength": 3}},
            {"contains": [""]},
            {"contains": ["\x00"]},
            {"like": "x"},
            {"criterion": "polite"},
            {"judge_model": "openai/gpt-5-mini"},
            {"judge_model": "gpt-5-mini", "criterion": "polite"},
        ],
    )
    def test_is_refused_when_it_could_never_be_checked(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            Expectation.model_validate(wrong)

    def test_is_the_same_after_it_was_stored(self) -> None:
        case = TestCase(name="a", text="x", form={"who": "Ada"}, expect=Expectation(contains=["y"], json_schema=SCHEMA))
        assert TestCase.model_validate(case.model_dump(mode="json", exclude_defaults=True)) == case
