"""Components that read and pick data."""

import pytest

from headgate.components.data.json_data import MessageHistory, ParseJSON, SelectData
from headgate.sdk import ComponentError, Message, Table
from headgate.sdk.coerce import ValueMismatch
from headgate.sdk.testing import StepHarness


class TestParseJSON:
    async def test_gives_data_and_table(self) -> None:
        outputs = await StepHarness().run(ParseJSON, {"text": '```json\n[{"a": 1}, {"b": 2}]\n```'})
        assert outputs["data"] == [{"a": 1}, {"b": 2}]
        assert outputs["table"] == Table(columns=["a", "b"], rows=[[1, None], [None, 2]])

    async def test_parses_null(self) -> None:
        assert await StepHarness().run(ParseJSON, {"text": "null"}, outputs=["data"]) == {"data": None}

    async def test_has_no_table_of_an_object(self) -> None:
        with pytest.raises(ValueMismatch, match="this is an object"):
            await StepHarness().run(ParseJSON, {"text": "{}"}, outputs=["table"])

    async def test_names_itself(self) -> None:
        with pytest.raises(ComponentError, match="ParseJSON: the text is not JSON"):
            await StepHarness().run(ParseJSON, {"text": "nope"}, outputs=["data"])


class TestSelectData:
    async def test_picks_from_data_and_tables(self) -> None:
        rows = Table(columns=["n", "s"], rows=[[1, "a"], [2, "b"]])
        outputs = await StepHarness().run(SelectData, {"data": rows, "expression": "[?n > `1`].s"})
        assert outputs == {"data": ["b"], "text": '[\n  "b"\n]'}
        outputs = await StepHarness().run(SelectData, {"data": {"a": "x"}, "expression": "a"})
        assert outputs == {"data": "x", "text": "x"}

    async def test_gives_nothing_for_nothing(self) -> None:
        assert await StepHarness().run(SelectData, {"data": {}, "expression": "a"}) == {"data": None, "text": ""}


class TestMessageHistory:
    async def test_gives_the_latest_messages_oldest_first(self) -> None:
        history = [Message(text="1"), Message(role="assistant", text="2"), Message(text="3")]
        outputs = await StepHarness(history=history).run(MessageHistory, {"limit": 2})
        assert outputs["text"] == "Assistant: 2\nUser: 3"
        assert [message["role"] for message in outputs["messages"]] == ["assistant", "user"]

    async def test_is_empty_outside_a_chat(self) -> None:
        assert await StepHarness().run(MessageHistory, {}) == {"text": "", "messages": []}
