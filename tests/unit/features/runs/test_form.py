import math
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.form import check_files, check_form, file_ids_in
from headgate.graph.model import FormField
from headgate.sdk import File

FORM = (
    FormField(id="namn", required=True),
    FormField(id="age", type="number"),
    FormField(id="colour", type="select", options=("red", "green")),
    FormField(id="scan", type="image"),
)
TYPED = (
    FormField(id="why", type="long_text", min=3, max=5),
    FormField(id="sum", type="number", min=1, max=9.5),
    FormField(id="kinds", type="multiselect", options=("red", "green", "blue"), min=1, max=2),
    FormField(id="seen", type="checkbox", required=True),
    FormField(id="day", type="date"),
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
            ({}, "'namn' requires an answer"),
            ({"namn": ""}, "'namn' requires an answer"),
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

    def test_reads_every_type(self) -> None:
        answers: dict[str, JsonValue] = {
            "why": "åäö", "sum": "9.5", "kinds": ["blue", "red", "red"], "seen": "true", "day": "2026-02-28",
        }  # fmt: skip
        typed = {"why": "åäö", "sum": 9.5, "kinds": ["red", "blue"], "seen": True, "day": "2026-02-28"}
        assert check_form(TYPED, answers) == typed
        assert check_form(TYPED, {"kinds": "red", "seen": True, "day": ""}) == {"kinds": ["red"], "seen": True}

    @pytest.mark.parametrize(
        ("name", "answer", "message"),
        [
            ("why", "no", "'why' must be at least 3 characters"),
            ("why", "longer", "'why' must be at most 5 characters"),
            ("sum", 0, "'sum' must be at least 1"),
            ("sum", "9.6", "'sum' must be at most 9.5"),
            ("kinds", ["red", "green", "blue"], "'kinds' must be at most 2 choices"),
            ("kinds", ["red", 3], "'kinds' must be a text"),
            ("kinds", ["redd"], "'kinds' has no option 'redd'"),
            ("seen", False, "'seen' must be checked"),
            ("seen", "yes", "'seen' must be true or false"),
            ("seen", 1, "'seen' must be true or false"),
            ("day", "2026-02-30", "'day' must be a date such as"),
            ("day", 5, "'day' must be a text"),
        ],
    )
    def test_refuses_what_a_type_or_a_bound_does_not_allow(self, name: str, answer: JsonValue, message: str) -> None:
        with pytest.raises(InputInvalid, match=message):
            check_form(TYPED, {"seen": True, name: answer})

    @pytest.mark.parametrize(
        ("members", "message"),
        [
            ({"type": "date", "max": 3}, "min and max belong to"),
            ({"type": "number", "min": 3, "max": 2}, "min is greater than max"),
            ({"min": 1.5}, "whole numbers"),
            ({"type": "multiselect"}, "required there"),
        ],
    )
    def test_knows_no_field_that_nobody_could_answer(self, members: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            FormField(id="a", **members)

    def test_says_that_there_is_no_form(self) -> None:
        with pytest.raises(InputInvalid, match="no form"):
            check_form((), {"namn": "x"})


class TestFileIdsIn:
    def test_finds_one_and_several(self) -> None:
        form = (*FORM, FormField(id="more", type="file"))
        assert file_ids_in(form, {"namn": "n", "scan": "a", "more": ["b", "c"]}) == ["a", "b", "c"]


class TestTypesOfFiles:
    @pytest.mark.parametrize(
        ("wanted", "name", "media_type"),
        [
            ("image", "a.png", "image/png"),
            ("audio", "a.mp3", "audio/mpeg"),
            ("document", "a.pdf", "application/pdf"),
            ("document", "a.docx", "application/octet-stream"),
            ("document", "a.txt", "text/plain"),
            ("file", "a.bin", "application/octet-stream"),
        ],
    )
    def test_that_a_field_declares_are_taken(self, wanted: Any, name: str, media_type: str) -> None:
        form = (FormField(id="letter", type=wanted),)
        check_files(form, {"letter": "1"}, [File(id="1", name=name, media_type=media_type)])

    @pytest.mark.parametrize(
        ("wanted", "name", "media_type"),
        [("image", "letter.txt", "text/plain"), ("audio", "a.png", "image/png"), ("document", "a.png", "image/png")],
    )
    def test_that_it_does_not_are_refused(self, wanted: Any, name: str, media_type: str) -> None:
        form = (FormField(id="letter", type=wanted),)
        with pytest.raises(InputInvalid, match=f"'letter' takes a file of type {wanted}, and '{name}' is {media_type}"):
            check_files(form, {"letter": ["1"]}, [File(id="1", name=name, media_type=media_type)])
