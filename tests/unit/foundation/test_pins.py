"""Pins of descriptions from outside."""

from random import Random
from time import perf_counter

from headgate.foundation.pins import Pin, difference, hash_of, renewed

FIRST = {"description": "Reads.", "input_schema": {"type": "object"}}
SECOND = {"description": "Reads and sends.", "input_schema": {"type": "object"}}


class TestRenewed:
    def test_the_first_description_is_accepted(self) -> None:
        assert renewed(None, None, FIRST) == Pin(hash_of(FIRST), hash_of(FIRST))

    def test_a_change_keeps_what_was_accepted(self) -> None:
        pin = renewed(renewed(None, None, FIRST), FIRST, SECOND)
        assert pin == Pin(hash_of(SECOND), hash_of(FIRST), FIRST)
        third = renewed(pin, SECOND, {"description": "Sends."})
        assert (third.accepted_sha256, third.accepted) == (hash_of(FIRST), FIRST)

    def test_the_accepted_description_needs_no_second_acceptance(self) -> None:
        pin = renewed(renewed(None, None, FIRST), FIRST, SECOND)
        assert renewed(pin, SECOND, FIRST) == Pin(hash_of(FIRST), hash_of(FIRST))

    def test_one_that_was_gone_is_compared_with_the_accepted_one(self) -> None:
        gone = renewed(renewed(None, None, FIRST), FIRST, None)
        assert (gone.sha256, gone.accepted) == ("", FIRST)
        assert renewed(gone, None, SECOND) == Pin(hash_of(SECOND), hash_of(FIRST), FIRST)


class TestDifference:
    def test_names_the_lines_that_differ(self) -> None:
        assert difference(FIRST, SECOND)[1:3] == [
            '-  "description": "Reads.",',
            '+  "description": "Reads and sends.",',
        ]

    def test_is_bounded(self) -> None:
        lines = difference({}, {str(number): "x" * 5_000 for number in range(2_000)})
        assert len(lines) == 401
        assert max(map(len, lines)) < 1_100

    def test_of_a_hostile_schema_takes_no_time(self) -> None:
        """Values that each occur in 1 % of the lines: every line could be one of many others."""
        order = Random(1)
        texts = [{"enum": order.sample([*range(100)] * 250, 25_000), "description": word} for word in ("old", "new")]
        started = perf_counter()
        lines = difference(*texts)
        assert perf_counter() - started < 1
        assert {'-  "description": "old",', '+  "description": "new",'} <= set(lines)
        assert lines[-1].endswith("more lines")

    def test_of_a_long_text_shows_the_lines_around_the_change(self) -> None:
        numbers = [*range(5_000)]
        lines = difference({"enum": numbers}, {"enum": [*numbers[:2_500], -1, *numbers[2_500:]]})
        assert [line.strip() for line in lines] == ["2497,", "2498,", "2499,", "+    -1,", "2500,", "2501,", "2502,"]

    def test_is_empty_where_the_accepted_description_was_not_stored(self) -> None:
        assert difference(None, SECOND) == []
