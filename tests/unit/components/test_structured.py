"""Structured output, native and prompted."""

from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel

from headgate.components.structured import StructuredOutput, rows_in
from headgate.components.structured_answer import refuses_schemas
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness
from tests.support.openai_server import OpenAIServer
from tests.unit.components.test_ai import MODEL, over_the_wire

SCHEMA = {"name": "string", "price": "number?"}


def prompted(*answers: str) -> StepHarness:
    """A model without structured output of its own."""
    return StepHarness(chat_model=GenericFakeChatModel(messages=iter(answers)))


class TestStructuredOutput:
    async def test_asks_natively_over_the_wire(self) -> None:
        with OpenAIServer() as server:
            server.script(server.structured({"name": "pen", "price": 2}))
            harness = StepHarness(chat_model=over_the_wire(server))
            outputs = await harness.run(StructuredOutput, {"model": MODEL, "input": "A pen, 2 kr", "schema": SCHEMA})
            assert outputs == {
                "data": {"name": "pen", "price": 2},
                "table": Table(columns=["name", "price"], rows=[["pen", 2]]),
            }
            (asked,) = server.asked
            wanted = asked.body["response_format"]["json_schema"]["schema"]
            assert wanted["properties"]["name"] == {"type": "string"}
            assert wanted["required"] == ["name"]
            assert harness.ctx.usage == [("openai/gpt-5-mini", 7, 3)]

    async def test_wraps_a_list_for_the_provider(self) -> None:
        with OpenAIServer() as server:
            server.script(server.structured({"value": [{"a": 1}, {"a": 2}]}))
            harness = StepHarness(chat_model=over_the_wire(server))
            schema = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}
            outputs = await harness.run(StructuredOutput, {"model": MODEL, "input": "x", "schema": schema})
            assert outputs["data"] == [{"a": 1}, {"a": 2}]
            assert outputs["table"].rows == [[1], [2]]

    async def test_prompts_when_the_server_knows_no_schemas(self) -> None:
        with OpenAIServer() as server:
            server.script(server.error(400, "response_format is not supported"), server.text('{"name": "pen"}'))
            harness = StepHarness(chat_model=over_the_wire(server))
            outputs = await harness.run(StructuredOutput, {"model": MODEL, "input": "x", "schema": SCHEMA})
            assert outputs["data"] == {"name": "pen"}
            assert "JSON Schema" in server.asked[1].body["messages"][0]["content"]

    async def test_does_not_ask_again_when_the_key_is_wrong(self) -> None:
        with OpenAIServer() as server:
            server.script(server.wrong_key("Incorrect API key provided."))
            harness = StepHarness(chat_model=over_the_wire(server))
            with pytest.raises(UpstreamFailed, match="Incorrect API key"):
                await harness.run(StructuredOutput, {"model": MODEL, "input": "x", "schema": SCHEMA})
            assert len(server.asked) == 1

    async def test_prompts_a_model_without_schemas(self) -> None:
        harness = prompted('```json\n{"name": "pen"}\n```')
        outputs = await harness.run(StructuredOutput, {"model": MODEL, "input": {"text": "a pen"}, "schema": SCHEMA})
        assert outputs["data"] == {"name": "pen"}
        assert '"required": ["name"]' in harness.ctx.prompts[-1]

    async def test_asks_once_more_with_what_was_wrong(self) -> None:
        harness = prompted('{"price": "two"}', '{"name": "pen", "price": 2}')
        outputs = await harness.run(StructuredOutput, {"model": MODEL, "input": "x", "schema": SCHEMA})
        assert outputs["data"] == {"name": "pen", "price": 2}
        assert "'name' is a required property" in harness.ctx.prompts[-1]
        assert '{"price": "two"}' in harness.ctx.prompts[-1]

    async def test_gives_up_with_the_answers_beginning(self) -> None:
        harness = prompted("No idea.", '{"price": 1}')
        with pytest.raises(ComponentError) as caught:
            await harness.run(StructuredOutput, {"model": MODEL, "input": "x", "schema": SCHEMA})
        assert "'name' is a required property. Its answer: {\"price\": 1}" in caught.value.detail

    @pytest.mark.parametrize("schema", ["nope", {}, [], 3, {"a": "strin"}, {"type": "strin"}])
    async def test_refuses_a_schema_that_is_none(self, schema: Any) -> None:
        with pytest.raises(ComponentError, match="the schema is not valid:"):
            await prompted("x").run(StructuredOutput, {"model": MODEL, "input": "x", "schema": schema})


class TestRefusesSchemas:
    def test_looks_down_the_chain(self) -> None:
        class Refused(Exception):
            status_code = 400

        outer = RuntimeError("outer")
        outer.__cause__ = Refused()
        assert refuses_schemas(outer)
        assert not refuses_schemas(RuntimeError("plain"))


class TestRowsIn:
    @pytest.mark.parametrize(
        ("value", "rows"),
        [
            ([{"a": 1}], [{"a": 1}]),
            ({"items": [{"a": 1}], "n": 1}, [{"a": 1}]),
            ({"a": 1}, [{"a": 1}]),
            ({"x": [{"a": 1}], "y": [{"b": 1}]}, [{"x": [{"a": 1}], "y": [{"b": 1}]}]),
            ({"x": [1, 2]}, [{"x": [1, 2]}]),
        ],
    )
    def test_finds_the_list(self, value: Any, rows: Any) -> None:
        assert rows_in(value) == rows
