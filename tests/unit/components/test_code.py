"""The Python node."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.components.code import Python
from headgate.foundation.errors import Invalid
from headgate.sdk import Table
from headgate.sdk.coerce import ValueMismatch
from headgate.sdk.testing import StepHarness

SOURCE = "def run(inputs):\n    return inputs"


def identity(_code: str, _function: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
    return arguments["inputs"]


class TestPython:
    async def test_hands_a_table_over_as_objects_and_takes_one_back(self) -> None:
        harness = StepHarness(code=identity)
        rows = Table(columns=["a"], rows=[[1]])
        outputs = await harness.run(Python, {"inputs": rows, "source": SOURCE, "timeout_seconds": 3})
        assert outputs == {"result": [{"a": 1}], "text": '[\n  {\n    "a": 1\n  }\n]', "table": rows}
        (call,) = harness.ctx.code.calls
        assert (call.code, call.function, call.arguments, call.timeout_seconds) == (
            SOURCE, "run", {"inputs": [{"a": 1}]}, 3.0,
        )  # fmt: skip

    @pytest.mark.parametrize(("value", "text"), [("hi", "hi"), (None, "null"), (3, "3")])
    async def test_gives_any_value(self, value: Any, text: str) -> None:
        outputs = await StepHarness(code=identity).run(
            Python, {"inputs": value, "source": SOURCE}, outputs=["result", "text"]
        )
        assert outputs == {"result": value, "text": text}

    async def test_has_no_table_of_a_number(self) -> None:
        with pytest.raises(ValueMismatch, match="this is a number"):
            await StepHarness(code=identity).run(Python, {"inputs": 3, "source": SOURCE}, outputs=["table"])

    async def test_lets_the_codes_error_through(self) -> None:
        def failing(*_arguments: object) -> JsonValue:
            raise Invalid("line 2: division by zero")

        with pytest.raises(Invalid, match="line 2"):
            await StepHarness(code=failing).run(Python, {"inputs": 1, "source": SOURCE})

    def test_never_interpolates_code(self) -> None:
        field = Python.template().field("source")
        assert field is not None
        assert not field.interpolate
