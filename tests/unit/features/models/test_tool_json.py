import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from headgate.features.models.errors import BrokenModelAnswer
from headgate.features.models.tool_json import call_schema, plain_messages, preamble, read_answer, with_preamble

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "Current weather\n for a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "name of the city"}},
        "required": ["city"],
    },
}
NESTED: dict[str, Any] = {
    "name": "plan",
    "parameters": {
        "type": "object",
        "properties": {"steps": {"type": "array", "items": {"$ref": "#/$defs/Step"}}},
        "$defs": {"Step": {"type": "object", "properties": {"do": {"type": "string"}}, "required": ["do"]}},
    },
}


def accepts(schema: dict[str, Any], answer: object) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(answer)


class TestCallSchema:
    def test_takes_a_call_of_any_tool_or_a_reply_and_nothing_else(self) -> None:
        schema = call_schema([WEATHER, NESTED])
        jsonschema.Draft202012Validator.check_schema(schema)
        assert accepts(schema, {"name": "get_weather", "arguments": {"city": "Oslo"}})
        assert accepts(schema, {"name": "reply", "arguments": {"text": "Hi"}})
        assert not accepts(schema, {"name": "get_weather", "arguments": {}})
        assert not accepts(schema, {"name": "get_weather", "arguments": {"city": "Oslo"}, "more": 1})
        assert not accepts(schema, {"name": "send_mail", "arguments": {"city": "Oslo"}})

    def test_keeps_definitions_reachable(self) -> None:
        schema = call_schema([NESTED])
        assert "$ref" not in json.dumps(schema)
        assert accepts(schema, {"name": "plan", "arguments": {"steps": [{"do": "x"}]}})
        assert not accepts(schema, {"name": "plan", "arguments": {"steps": [{"undo": "x"}]}})

    def test_leaves_out_the_reply_when_a_call_is_wanted(self) -> None:
        schema = call_schema([WEATHER], reply=False)
        assert accepts(schema, {"name": "get_weather", "arguments": {"city": "Oslo"}})
        assert not accepts(schema, {"name": "reply", "arguments": {"text": "Hi"}})

    def test_takes_a_tool_without_parameters(self) -> None:
        assert accepts(call_schema([{"name": "now"}]), {"name": "now", "arguments": {}})


class TestReadAnswer:
    def test_makes_a_tool_call(self) -> None:
        usage: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        message = AIMessage(content='{"name": "get_weather", "arguments": {"city": "Oslo"}}', usage_metadata=usage)
        answer = read_answer(message, {"get_weather"})
        assert answer.content == ""
        assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("get_weather", {"city": "Oslo"})]
        assert answer.usage_metadata == usage

    def test_gives_each_call_an_id_of_its_own(self) -> None:
        message = AIMessage(content='{"name": "now", "arguments": {}}')
        first, second = read_answer(message, {"now"}), read_answer(message, {"now"})
        assert first.tool_calls[0]["id"] != second.tool_calls[0]["id"]

    def test_makes_a_reply(self) -> None:
        answer = read_answer(AIMessage(content='{"name": "reply", "arguments": {"text": "Hi"}}'), {"now"})
        assert (answer.text, answer.tool_calls) == ("Hi", [])

    def test_calls_a_tool_that_happens_to_be_named_reply(self) -> None:
        answer = read_answer(AIMessage(content='{"name": "reply", "arguments": {"text": "Hi"}}'), {"reply"})
        assert answer.tool_calls[0]["name"] == "reply"

    @pytest.mark.parametrize(
        "text", ["", "Sure!", '{"name": "now", "argum', "[]", "null", "3", '{"name": "now"}', '{"arguments": {}}',
                 '{"name": "now", "arguments": 5}', '{"name": "other", "arguments": {}}'],
    )  # fmt: skip
    def test_refuses_what_is_no_call(self, text: str) -> None:
        with pytest.raises(BrokenModelAnswer) as caught:
            read_answer(AIMessage(content=text), {"now"})
        assert caught.value.remedy

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
        )
    )
    def test_reads_any_json_or_refuses_it(self, value: object) -> None:
        with pytest.raises(BrokenModelAnswer):
            read_answer(AIMessage(content=json.dumps(value)), {"now"})


class TestPlainMessages:
    def test_writes_calls_and_results_as_text(self) -> None:
        call = {"name": "get_weather", "args": {"city": "Malmö"}, "id": "1", "type": "tool_call"}
        conversation = [
            HumanMessage("Weather?"),
            AIMessage(content="Let me look.", tool_calls=[call]),
            ToolMessage("4 degrees", tool_call_id="1"),
        ]
        plain = plain_messages(conversation)
        assert [type(message) for message in plain] == [HumanMessage, AIMessage, HumanMessage]
        assert plain[1].text == 'Let me look.\n{"name": "get_weather", "arguments": {"city": "Malmö"}}'
        assert plain[2].text == "Result of get_weather: 4 degrees"

    def test_takes_a_result_whose_call_is_gone(self) -> None:
        assert plain_messages([ToolMessage("4", tool_call_id="9")])[0].text == "Result of the function: 4"


class TestPreamble:
    def test_describes_every_function_on_one_line(self) -> None:
        text = preamble([WEATHER, NESTED], reply=True)
        assert "- get_weather(city (name of the city)): Current weather for a city" in text
        assert "- plan(steps): " in text
        assert "- reply(text)" in text
        assert "reply" not in preamble([WEATHER], reply=False)

    def test_follows_the_callers_own_system_message(self) -> None:
        messages = with_preamble([SystemMessage("Be brief."), HumanMessage("Hi")], "FUNCTIONS")
        assert [message.text for message in messages] == ["Be brief.\n\nFUNCTIONS", "Hi"]
        assert with_preamble([HumanMessage("Hi")], "FUNCTIONS")[0].text == "FUNCTIONS"
