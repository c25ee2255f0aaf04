"""One way out of many."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.switch import MOST_CASES, Switch, output_names
from headgate.graph.model import PORT_PATTERN
from headgate.sdk import NOT_TAKEN, ComponentError
from headgate.sdk.testing import StepHarness


async def taken(value: Any, cases: Any, **values: Any) -> str:
    outputs = await StepHarness().run(Switch, {"value": value, "cases": cases, **values})
    names = [name for name, found in outputs.items() if found is not NOT_TAKEN]
    assert len(names) == 1
    assert outputs[names[0]] == value
    return names[0]


class TestSwitch:
    @pytest.mark.parametrize(
        ("value", "way"),
        [
            ("urgent", "urgent"),
            (" URGENT.\n", "urgent"),
            ("**Very urgent!**", "very_urgent"),
            ("Brådskande", "bradskande"),
            ("no idea", "otherwise"),
            ("", "otherwise"),
        ],
    )
    async def test_takes_the_way_of_the_case(self, value: str, way: str) -> None:
        assert await taken(value, ["urgent", "Very urgent", "brådskande"]) == way

    async def test_can_look_for_the_case_inside(self) -> None:
        assert await taken("This is a bug, I think", ["feature", "bug"], match="contains") == "bug"
        assert await taken("This is a bug", ["bug"]) == "otherwise"

    async def test_looks_at_a_field(self) -> None:
        assert await taken({"kind": "b", "n": 1}, ["a", "b"], field="kind") == "b"
        assert await taken({"n": 2}, ["1", "2"], field="n") == "case_2"

    async def test_takes_cases_written_as_text(self) -> None:
        assert await taken("b", "a, b") == "b"
        assert [out.name for out in Switch.template({"cases": "a\nb c\n"}).outputs] == ["a", "b_c", "otherwise"]

    @pytest.mark.parametrize("cases", [None, 3, {}, [], [1, None], ["", " "]])
    def test_survives_cases_that_are_none(self, cases: Any) -> None:
        assert [out.name for out in Switch.template({"cases": cases}).outputs] == ["otherwise"]

    def test_bounds_the_cases(self) -> None:
        template = Switch.template({"cases": [f"c{number}" for number in range(500)]})
        assert len(template.outputs) == MOST_CASES + 1

    def test_puts_the_first_case_first(self) -> None:
        main = Switch.template({"cases": ["b", "a"]}).main_output
        assert main is not None
        assert main.name == "b"

    def test_never_interpolates_its_cases(self) -> None:
        field = Switch.template().field("cases")
        assert field is not None
        assert not field.interpolate

    async def test_needs_cases(self) -> None:
        with pytest.raises(ComponentError, match="'cases' is empty"):
            await StepHarness().run(Switch, {"value": "x"})


class TestOutputNames:
    @pytest.mark.parametrize(
        ("cases", "names"),
        [
            (["Very urgent", "very-urgent"], ["very_urgent", "very_urgent_2"]),
            (["otherwise", "tool"], ["otherwise_2", "tool_2"]),
            (["1st", "緊急", "???"], ["case_1st", "case_2", "case_3"]),
        ],
    )
    def test_slugs_and_numbers(self, cases: list[str], names: list[str]) -> None:
        assert output_names(cases) == names

    @given(st.lists(st.text(max_size=100), max_size=20))
    def test_are_port_names_and_unique(self, cases: list[str]) -> None:
        names = output_names(cases)
        assert len(set(names)) == len(cases)
        assert all(re.fullmatch(PORT_PATTERN, name) for name in names)
