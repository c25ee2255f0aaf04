"""Values between runs, as the components read and write them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headgate.components.state import ReadState, WaitForState, WriteState
from headgate.features.flows.state.changes import MOST_BYTES, changed, check_name, check_type, size_of
from headgate.features.flows.state.errors import StateInvalid
from headgate.sdk import NOT_TAKEN, ComponentError, Table
from headgate.sdk.state import StateChange, StateValue
from headgate.sdk.testing import StepHarness


class TestReadState:
    async def test_gives_the_value_and_its_version(self) -> None:
        harness = StepHarness()
        harness.ctx.state.values["n"] = StateValue({"id": 7}, 3)
        outputs = await harness.run(ReadState, {"name": "n", "default": 1})
        assert (outputs["value"], outputs["version"]) == ({"id": 7}, 3)
        assert '"id": 7' in outputs["text"]

    async def test_gives_the_default_when_there_is_none(self) -> None:
        outputs = await StepHarness().run(ReadState, {"name": "n", "default": 5})
        assert outputs == {"value": 5, "text": "5", "version": 0}

    async def test_gives_null_that_was_written_and_not_the_default(self) -> None:
        harness = StepHarness()
        harness.ctx.state.values["n"] = StateValue(None, 1)
        assert (await harness.run(ReadState, {"name": "n", "default": 5}))["value"] is None


class TestTypes:
    @pytest.mark.parametrize(
        ("type_", "port"),
        [("text", "Text"), ("table", "Table"), ("number", "Data"), ("any", "Data"), (["text"], "Data")],
    )
    def test_are_those_of_the_ports(self, type_: Any, port: str) -> None:
        for component in (ReadState, WriteState):
            value = component.template({"value_type": type_}).output("value")
            assert value is not None
            assert value.type == port

    async def test_give_a_table_and_empty_values(self) -> None:
        harness = StepHarness()
        outputs = await harness.run(ReadState, {"name": "n", "value_type": "table"})
        assert outputs["value"] == Table(columns=[])
        assert (await harness.run(ReadState, {"name": "n", "value_type": "text"}))["value"] == ""
        harness.ctx.state.values["n"] = StateValue([{"a": 1}], 1)
        outputs = await harness.run(ReadState, {"name": "n", "value_type": "table"})
        assert outputs["value"] == Table(columns=["a"], rows=[[1]])
        written = await harness.run(WriteState, {"name": "m", "value": [{"a": 1}], "value_type": "table"})
        assert written["value"] == Table(columns=["a"], rows=[[1]])
        assert harness.ctx.state.changes[0].type == "table"

    async def test_refuse_a_stored_value_and_a_default_of_another_type(self) -> None:
        harness = StepHarness()
        with pytest.raises(ComponentError, match="the default is text, not of type number"):
            await harness.run(ReadState, {"name": "n", "default": "x", "value_type": "number"})
        harness.ctx.state.values["n"] = StateValue("x", 1)
        with pytest.raises(ComponentError, match="state 'n' is text, not of type number"):
            await harness.run(ReadState, {"name": "n", "value_type": "number"})

    @pytest.mark.parametrize(
        ("type_", "good", "bad"),
        [
            ("text", "", 1),
            ("number", 1.5, True),
            ("boolean", False, 0),
            ("object", {}, []),
            ("list", [1], {}),
            ("table", [{"a": 1}], [1]),
            ("number", 0, None),
        ],
    )
    def test_are_checked(self, type_: Any, good: Any, bad: Any) -> None:
        check_type("n", good, type_)
        check_type("n", bad, "any")
        with pytest.raises(StateInvalid, match=f"its declared type is {type_}"):
            check_type("n", bad, type_)


class TestWaitForState:
    async def test_gives_the_value_that_meets_the_condition(self) -> None:
        harness = StepHarness()
        harness.ctx.state.values["n"] = StateValue({"done": 3}, 1)
        outputs = await harness.run(WaitForState, {"name": "n", "until": "done >= `3`", "value": "late"})
        assert (outputs["value"], outputs["timeout"]) == ({"done": 3}, NOT_TAKEN)
        assert harness.ctx.slept == []

    async def test_checks_at_its_interval_until_somebody_writes_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        harness = StepHarness()
        waited: list[float] = []

        async def sleep(seconds: float, *, restartable: bool = False) -> None:
            assert restartable
            waited.append(seconds)
            if len(waited) == 3:
                harness.ctx.state.values["n"] = StateValue("ready", 1)

        monkeypatch.setattr(harness.ctx, "sleep", sleep)
        outputs = await harness.run(WaitForState, {"name": "n", "until": "@ == 'ready'", "interval_seconds": 5})
        assert outputs["value"] == "ready"
        assert waited == [5, 5, 5]

    async def test_takes_the_timeout_branch_with_its_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        harness = StepHarness()
        now = datetime(2026, 1, 1, tzinfo=UTC)

        async def sleep(seconds: float, *, restartable: bool = False) -> None:
            nonlocal now
            now += timedelta(seconds=seconds)

        monkeypatch.setattr(harness.ctx, "sleep", sleep)
        monkeypatch.setattr("headgate.components.state.current_time", lambda: now)
        params = {"name": "n", "until": "@ == 'ready'", "interval_seconds": 50, "timeout_hours": 1 / 60, "value": "x"}
        outputs = await harness.run(WaitForState, params)
        assert (outputs["value"], outputs["timeout"]) == (NOT_TAKEN, "x")
        assert now == datetime(2026, 1, 1, 0, 1, tzinfo=UTC)

    async def test_checks_a_year_about_a_thousand_times(self, monkeypatch: pytest.MonkeyPatch) -> None:
        harness = StepHarness()
        now = datetime(2026, 1, 1, tzinfo=UTC)
        checks = 0

        async def sleep(seconds: float, *, restartable: bool = False) -> None:
            nonlocal now, checks
            now, checks = now + timedelta(seconds=seconds), checks + 1

        async def never(*_: Any, **__: Any) -> bool:
            return False

        monkeypatch.setattr(harness.ctx, "sleep", sleep)
        monkeypatch.setattr("headgate.components.state.current_time", lambda: now)
        monkeypatch.setattr("headgate.components.state.select_part", never)
        params = {"name": "n", "until": "@", "interval_seconds": 60, "timeout_hours": 365 * 24}
        assert (await harness.run(WaitForState, params))["value"] is NOT_TAKEN
        assert now == datetime(2027, 1, 1, tzinfo=UTC)
        assert 500 < checks < 1200

    async def test_has_the_declared_type_and_refuses_another_one(self) -> None:
        template = WaitForState.template({"value_type": "table"})
        assert [port.type.value for port in template.outputs] == ["Table", "Data"]
        harness = StepHarness()
        harness.ctx.state.values["n"] = StateValue([{"a": 1}], 1)
        params = {"name": "n", "until": "@"}
        outputs = await harness.run(WaitForState, params | {"value_type": "table"})
        assert isinstance(outputs["value"], Table)
        with pytest.raises(ComponentError, match="not of type number"):
            await harness.run(WaitForState, params | {"value_type": "number"})

    async def test_refuses_a_condition_that_is_none(self) -> None:
        with pytest.raises(ComponentError, match="Bad jmespath"):
            await StepHarness().run(WaitForState, {"name": "n", "until": "a ="})


class TestWriteState:
    async def test_writes_once_however_many_outputs_are_used(self) -> None:
        harness = StepHarness()
        harness.ctx.state.values["n"] = StateValue("a", 1)
        outputs = await harness.run(WriteState, {"name": "n", "value": "b"})
        assert outputs == {"value": "b", "previous": "a", "version": 2}
        assert harness.ctx.state.changes == [StateChange("n", "set", "b", 100, None)]

    @pytest.mark.parametrize(("value", "number"), [(None, 1), ("", 1), ("2", 2), ("1.5", 1.5), (-3, -3)])
    async def test_increments_by_a_number(self, value: Any, number: float) -> None:
        harness = StepHarness()
        await harness.run(WriteState, {"name": "n", "value": value, "operation": "increment"})
        assert harness.ctx.state.changes[0].value == number

    @pytest.mark.parametrize("value", ["many", True, [1]])
    async def test_refuses_to_add_what_is_no_number(self, value: Any) -> None:
        with pytest.raises(ComponentError, match="'value' is"):
            await StepHarness().run(WriteState, {"name": "n", "value": value, "operation": "increment"})

    @pytest.mark.parametrize(("expected", "version"), [(None, None), ("", None), (0, 0), ("4", 4)])
    async def test_compares_the_version(self, expected: Any, version: int | None) -> None:
        harness = StepHarness()
        await harness.run(WriteState, {"name": "n", "value": "x", "expected_version": expected})
        assert harness.ctx.state.changes[0].expected_version == version

    async def test_refuses_a_version_that_is_none(self) -> None:
        with pytest.raises(ComponentError, match="expected_version"):
            await StepHarness().run(WriteState, {"name": "n", "value": "x", "expected_version": 1.5})


class TestChanges:
    @pytest.mark.parametrize(
        ("operation", "value", "current", "outcome"),
        [
            ("set", [1], "a", [1]),
            ("increment", 2, None, 2),
            ("increment", 2, 40, 42),
            ("increment", -0.5, 1, 0.5),
            ("append", "c", None, ["c"]),
            ("append", "c", ["a", "b"], ["b", "c"]),
        ],
    )
    def test_make_the_new_value(self, operation: Any, value: Any, current: Any, outcome: Any) -> None:
        assert changed(StateChange("n", operation, value, most=2), current) == outcome

    @pytest.mark.parametrize(
        ("operation", "current"),
        [("increment", "3"), ("increment", True), ("increment", 2**53 - 1), ("append", {}), ("append", 1)],
    )
    def test_refuse_a_value_of_another_type(self, operation: Any, current: Any) -> None:
        with pytest.raises(StateInvalid):
            changed(StateChange("n", operation, 1), current)

    @pytest.mark.parametrize("name", ["", " ", "-a", "a b", "å", "a" * 65, "a/b", "a\x00", "a\n"])
    def test_refuse_a_name_that_is_none(self, name: str) -> None:
        with pytest.raises(StateInvalid, match="cannot be the name"):
            check_name(name)

    def test_bound_the_value(self) -> None:
        assert size_of("n", "x" * (MOST_BYTES - 2)) == MOST_BYTES
        with pytest.raises(StateInvalid, match="65,537 bytes"):
            size_of("n", "x" * (MOST_BYTES - 1))
