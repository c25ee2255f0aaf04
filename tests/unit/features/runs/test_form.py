import math

import pytest
from pydantic import JsonValue

from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.form import check_form, file_ids_in
from headgate.graph.model import FormField

FORM = (
    FormField(id="namn", required=True),
    FormField(id="age", type="number"),
    FormField(id="colour", type="select", options=("red", "green")),
    FormField(id="scan", type="image"),
)


class TestCheckForm:
    def test_keeps_answers_and_leaves_out_empty_ones(self) -> None:
        assert check_form(FORM, {"namn": "Åsa", "age": "", "colour": None}) == {"namn": "Åsa"}

    @pytest.mark.parametrize(("answer", "number"), [(5, 5), ("5", 5), ("-2.5", -2.5), (1.5, 1.5), (0, 0)])
    def test_reads_numbers(self, answer: JsonValue, number: float) -> None:
        assert check_form(FORM, {"namn": "x", "age": answer})["age"] == number

    @pytest.mark.parametrize(
        ("answers", "said"),
        [
            ({}, "'namn' needs an answer"),
            ({"namn": ""}, "'namn' needs an answer"),
            ({"namn": 5}, "'namn' must be a text"),
            ({"namn": "x", "age": "old"}, "'age' must be a number"),
            ({"namn": "x", "age": True}, "'age' must be a number"),
            ({"namn": "x", "age": math.inf}, "'age' must be a number"),
            ({"namn": "x", "age": "nan"}, "'age' must be a number"),
            ({"namn": "x", "age": "9" * 30}, "'age' must be a number of at most 64 bits"),
            ({"namn": "x", "age": -(2**64)}, "'age' must be a number of at most 64 bits"),
            ({"namn": "x", "age": [1]}, "'age' must be a number"),
            ({"namn": "x", "colour": "gren"}, "no option 'gren'"),
            ({"namn": "x", "scan": {"id": 1}}, "'scan' must be the id of an uploaded file"),
            ({"namn": "x", "nmn": 1}, "no field 'nmn'"),
        ],
    )
    def test_names_the_field_that_does_not_fit(self, answers: dict[str, JsonValue], said: str) -> None:
        with pytest.raises(InputInvalid, match=said):
            check_form(FORM, answers)

    def test_says_that_there_is_no_form(self) -> None:
        with pytest.raises(InputInvalid, match="no form"):
            check_form((), {"namn": "x"})


class TestFileIdsIn:
    def test_finds_one_and_several(self) -> None:
        form = (*FORM, FormField(id="more", type="file"))
        assert file_ids_in(form, {"namn": "n", "scan": "a", "more": ["b", "c"]}) == ["a", "b", "c"]
