"""Conditions and slot patterns."""

import pytest

from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.conditions import read_condition
from headgate.agents.assistant.offline.grammar.pattern import compile_pattern, match_at
from headgate.agents.assistant.offline.grammar.rules import READERS, STAGES, rules
from headgate.agents.assistant.offline.language.reading import Reading


def condition(text: str) -> Condition:
    """The condition a text begins with."""
    reading = Reading(text)
    read = read_condition(reading, 0, len(reading))
    assert read is not None
    return read[0]


class TestReadCondition:
    @pytest.mark.parametrize(
        ("text", "operator", "value", "column"),
        [
            ("the amount is over 10 000", "over", 10000, "amount"),
            ("price below 5", "under", 5, "price"),
            ("the country is Norway", "is", "Norway", "country"),
            ("it contains ERROR", "contains", "ERROR", ""),
            ("there is an error in it", "contains", "error", ""),
            ("there's a question mark in the text", "contains", "?", ""),
        ],
    )
    def test_reads_comparisons(self, text: str, operator: str, value: object, column: str) -> None:
        found = condition(text)
        assert (found.operator, found.value, found.column) == (operator, value, column)

    def test_reads_a_denial(self) -> None:
        assert condition("it does not contain ERROR").negated

    def test_joins_several_values(self) -> None:
        found = condition("it contains refund or return")
        assert (found.joined, [other.value for other in found.others]) == ("or", ["return"])

    def test_counts_what_there_is_of_a_kind(self) -> None:
        found = condition("there are any emails in the text")
        assert (found.measure, found.unit, found.operator, found.value) == ("count", "t.email", "over", 0)

    def test_finds_none_where_nothing_is_compared(self) -> None:
        reading = Reading("sort the lines")
        assert read_condition(reading, 0, len(reading)) is None


class TestPattern:
    def test_reads_its_slots(self) -> None:
        reading = Reading("wait for 3 seconds")
        found = match_at(compile_pattern("wait", "@v.wait <seconds:duration>"), reading, 0, len(reading), READERS)
        assert found is not None
        assert found.slots["seconds"] == 3

    def test_does_not_match_a_word_that_is_taken(self) -> None:
        reading = Reading("wait 3 seconds")
        reading.claim(0, 1)
        pattern = compile_pattern("wait", "@v.wait <seconds:duration>")
        assert match_at(pattern, reading, 0, len(reading), READERS) is None

    @pytest.mark.parametrize("text", ["", "@v.wait <"])
    def test_refuses_a_malformed_text(self, text: str) -> None:
        with pytest.raises(ValueError, match="malformed"):
            compile_pattern("x", text)

    def test_has_a_reader_for_every_slot_of_the_rules(self) -> None:
        used = {element.slot_type for rule in rules() for element in rule.elements if element.slot_type}
        assert used <= READERS.keys()

    def test_has_a_stage_for_every_operation_of_the_rules(self) -> None:
        assert {rule.operation for rule in rules()} - {"unsupported"} <= STAGES.keys()
