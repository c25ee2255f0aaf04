"""Branches and their merging."""

from typing import Any

import pytest

from headgate.components.logic import If, Merge
from headgate.sdk import NOT_TAKEN, ComponentError, Table
from headgate.sdk.testing import StepHarness


class TestIf:
    @pytest.mark.parametrize(
        ("value", "passed"),
        [("yes", "yes"), ({"a": "yes"}, {"a": "yes"}), (Table(columns=["yes"], rows=[[1]]), [{"yes": 1}])],
    )
    async def test_passes_the_value_through_the_taken_way(self, value: Any, passed: Any) -> None:
        values = {"value": value, "operator": "is not empty"}
        assert await StepHarness().run(If, values) == {"true": passed, "false": NOT_TAKEN}
        values = {"value": value, "operator": "is empty"}
        assert await StepHarness().run(If, values) == {"true": NOT_TAKEN, "false": passed}

    @pytest.mark.parametrize("value", [{"order": {"total": 120}}, '{"order": {"total": 120}}'])
    async def test_looks_at_a_field_and_passes_all(self, value: Any) -> None:
        outputs = await StepHarness().run(
            If, {"value": value, "field": "order.total", "operator": "is greater than", "compare": "100"}
        )
        assert outputs == {"true": value, "false": NOT_TAKEN}

    async def test_counts_rows(self) -> None:
        rows = Table(columns=["n"], rows=[[1], [2]])
        outputs = await StepHarness().run(
            If, {"value": rows, "field": "length(@)", "operator": "is greater than", "compare": "2"}
        )
        assert outputs["true"] is NOT_TAKEN

    async def test_says_that_text_has_no_fields(self) -> None:
        with pytest.raises(ComponentError, match="it has no 'total'"):
            await StepHarness().run(If, {"value": "plain", "field": "total", "compare": "x"})

    def test_declares_both_ways_as_branches(self) -> None:
        assert [(out.name, out.branch) for out in If.template().outputs] == [("true", True), ("false", True)]


class TestMerge:
    @pytest.mark.parametrize(
        ("mode", "outputs"),
        [
            ("first", {"value": [{"a": 1}], "text": "| a |\n| --- |\n| 1 |"}),
            ("all", {"value": [[{"a": 1}], "x"], "text": "| a |\n| --- |\n| 1 |--x"}),
            ("text", {"value": "| a |\n| --- |\n| 1 |--x", "text": "| a |\n| --- |\n| 1 |--x"}),
        ],
    )
    async def test_gives_what_the_mode_says(self, mode: str, outputs: dict[str, Any]) -> None:
        values = {"values": [Table(columns=["a"], rows=[[1]]), "x"], "mode": mode, "separator": "--"}
        assert await StepHarness().run(Merge, values) == outputs

    async def test_gives_null_of_nothing(self) -> None:
        assert await StepHarness().run(Merge, {"values": []}) == {"value": None, "text": ""}
