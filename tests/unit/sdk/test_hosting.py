"""What runs inside a sandbox worker: finds the component, describes it, has it work."""

import asyncio
import base64
from types import ModuleType
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.foundation.errors import HeadgateError
from headgate.sdk import File, Message, Table
from headgate.sdk.crossing import pack
from headgate.sdk.hosting import describe, produce
from tests.support.web_server import answer, web_server

HEAD = "from pydantic import SecretStr\nfrom headgate.sdk import *\nfrom headgate.sdk import Component, field, output\n"
SUM = (
    HEAD
    + '''
class SumNumbers(Component):
    """Adds two numbers."""

    a: float = field(label="First", tool_mode=True)
    b: float = field(default=1)

    @output(help="The sum.")
    def total(self) -> Data:
        return self.a + self.b

    @output()
    async def as_text(self) -> Text:
        self.ctx.log("adding", a=self.a)
        await self.ctx.emit("half ")
        return f"{self.a + self.b:g}"

    @output(branch=True)
    def negative(self) -> Text:
        return "below zero" if self.a + self.b < 0 else NOT_TAKEN
'''
)


def loaded(code: str) -> ModuleType:
    module = ModuleType("node_code")
    exec(compile(code, "<code>", "exec"), vars(module))
    return module


def made(code: str, *outputs: str, told: dict[str, Any] | None = None, **values: object) -> dict[str, Any]:
    packed: dict[str, JsonValue] = {name: pack(value) for name, value in values.items()}
    arguments = {"values": packed, "outputs": list(outputs), **(told or {})}
    return asyncio.run(produce(loaded(code), arguments))


class TestDescribe:
    def test_gives_the_template_of_the_class(self) -> None:
        found: Any = describe(loaded(SUM), {})
        assert found["class_name"] == "SumNumbers"
        assert [one["name"] for one in found["template"]["fields"]] == ["a", "b"]
        assert [(one["name"], one["type"]) for one in found["template"]["outputs"]] == [
            ("total", "Data"),
            ("as_text", "Text"),
            ("negative", "Text"),
        ]

    def test_takes_the_class_that_builds_on_another(self) -> None:
        code = SUM + "\n\nclass SumMore(SumNumbers):\n    c: float = field(default=0)\n"
        assert describe(loaded(code), {})["class_name"] == "SumMore"

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("x = 1", "The code defines no component."),
            (HEAD, "The code defines no component."),
            (SUM + SUM.replace("SumNumbers", "Other"), "2 components: SumNumbers, Other"),
            (
                HEAD + "class Changing(Component):\n    @classmethod\n    def extra_outputs(cls, params):\n"
                "        return ()\n    @output()\n    def x(self) -> Text:\n        return ''\n",
                "Changing.extra_outputs",
            ),
            (
                HEAD + "class Asks(Component):\n    model: Model = field()\n    @output()\n    def x(self) -> Text:\n"
                "        return ''\n",
                ": custom code cannot take a model or tools",
            ),
            (
                HEAD + "class Makes(Component):\n    @output()\n    def x(self) -> Model:\n        return None\n",
                "cannot return a Model",
            ),
            (HEAD + "class Bare(Component):\n    a: str = field()\n", "has no output"),
            (
                HEAD + "class Vague(Component):\n    @output()\n    def x(self):\n        return 1\n",
                "annotate the return",
            ),
        ],
    )
    def test_refuses_what_own_code_cannot_be(self, code: str, expected: str) -> None:
        with pytest.raises(HeadgateError, match=expected):
            describe(loaded(code), {})


class TestProduce:
    def test_gives_every_output_that_is_wanted_and_says_which_were_not_taken(self) -> None:
        found = made(SUM, "total", "as_text", "negative", a=2)
        assert found["outputs"] == {
            "total": {"value": 3.0},
            "as_text": {"value": "3"},
            "negative": {"not_taken": True},
        }
        assert found["log"] == [{"message": "adding", "details": {"a": 2.0}}]
        assert found["tokens"] == ["half "]

    def test_makes_no_output_that_nobody_wants(self) -> None:
        assert made(SUM, "total", a=2)["log"] == []

    def test_keeps_a_table_a_table_where_data_would_fit(self) -> None:
        code = (
            HEAD + "class Kind(Component):\n    x: Data | Table = field()\n    @output()\n    def kind(self) -> Text:\n"
            "        return type(self.x).__name__\n"
        )
        assert made(code, "kind", x=Table(columns=["a"], rows=[[1]]))["outputs"]["kind"] == {"value": "Table"}
        assert made(code, "kind", x={"columns": ["a"], "rows": []})["outputs"]["kind"] == {"value": "dict"}

    def test_reads_messages_in_lists(self) -> None:
        code = (
            HEAD + "class Last(Component):\n    x: list[Message] = field(many=True)\n    @output()\n"
            "    def said(self) -> Text:\n        return self.x[-1].text\n"
        )
        assert made(code, "said", x=[Message(text="a"), Message(text="b")])["outputs"]["said"] == {"value": "b"}

    def test_refuses_a_value_that_is_not_of_the_outputs_type(self) -> None:
        code = HEAD + "class Wrong(Component):\n    @output()\n    def x(self) -> Text:\n        return 3\n"
        with pytest.raises(HeadgateError, match="output 'x': A Text was expected"):
            made(code, "x")

    def test_names_the_field_that_is_missing(self) -> None:
        with pytest.raises(HeadgateError, match="field 'a' is empty"):
            made(SUM, "total")

    def test_hands_files_in_and_out(self) -> None:
        code = (
            HEAD + "class Upper(Component):\n    source: File = field()\n    @output()\n"
            "    async def changed(self) -> File:\n        text = await self.ctx.files.read(self.source)\n"
            "        return await self.ctx.files.save('upper.txt', text.upper(), 'text/plain')\n"
        )
        given = File(id="f1", name="a.txt", size=2)
        found = made(code, "changed", told={"files": {"f1": base64.b64encode(b"ab").decode()}}, source=given)
        [file] = found["files"]
        assert base64.b64decode(file["content"]) == b"AB"
        assert found["outputs"]["changed"]["value"]["id"] == file["id"]
        with pytest.raises(HeadgateError, match=r"content of 'a\.txt'"):
            made(code, "changed", source=given)

    def test_refuses_more_files_than_an_answer_can_carry(self) -> None:
        code = (
            HEAD + "class Big(Component):\n    @output()\n    async def x(self) -> File:\n"
            "        return await self.ctx.files.save('big', b'.' * (5 << 20), 'text/plain')\n"
        )
        with pytest.raises(HeadgateError, match="bytes of files"):
            made(code, "x")

    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            ("await self.ctx.secret('KEY')", "cannot look up a secret"),
            ("await self.ctx.chat_model(None)", "cannot ask a model"),
            ("await self.ctx.transcribe(None, None)", "cannot ask a model"),
            ("await self.ctx.mcp_tools('x')", "cannot reach an MCP server"),
            ("await self.ctx.code.call('', '', {})", "cannot run other code"),
            ("self.ctx.check_inputs(None, [])", "cannot ask a model"),
            ("self.ctx.input.text", "This component does not receive the run's input"),
        ],
    )
    def test_says_what_is_not_there(self, call: str, expected: str) -> None:
        code = HEAD + f"class Asks(Component):\n    @output()\n    async def x(self) -> Text:\n        return {call}\n"
        with pytest.raises(HeadgateError, match=expected):
            made(code, "x")

    def test_knows_the_runs_input_where_it_is_given(self) -> None:
        code = (
            HEAD
            + "class Reads(Component):\n    @output()\n    def x(self) -> Text:\n        return self.ctx.input.text\n"
        )
        told = {"input": {"text": "hello", "form_data": {}, "files": [], "history": []}}
        assert made(code, "x", told=told)["outputs"]["x"] == {"value": "hello"}

    def test_keeps_what_it_says_of_models_and_tools_as_lines(self) -> None:
        code = (
            HEAD + "class Tells(Component):\n    @output()\n    def x(self) -> Text:\n"
            "        self.ctx.record_tool_call('wipe', {'a': 1}, True)\n        return ''\n"
        )
        assert made(code, "x")["log"][0]["message"] == "The component reports a call of wipe."


class TestHttp:
    CODE = (
        HEAD + "class Fetch(Component):\n    url: str = field()\n    @output()\n    async def page(self) -> Data:\n"
        "        found = await self.ctx.http.request('POST', self.url, headers={'x-a': 'b'}, body='hi')\n"
        "        return {'status': found.status, 'text': found.text, 'type': found.media_type}\n"
    )

    async def test_gives_answers_of_any_status(self) -> None:
        async with web_server() as server:
            server.on("/gone", answer(404, "no such page", content_type="text/plain"))
            packed = {"url": pack(server.url("/gone"))}
            found: Any = await produce(loaded(self.CODE), {"values": packed, "outputs": ["page"]})
            [seen] = server.seen("/gone")
        assert found["outputs"]["page"]["value"] == {"status": 404, "text": "no such page", "type": "text/plain"}
        assert (seen.method, seen.headers["x-a"], seen.body) == ("POST", "b", b"hi")

    @pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "file:///etc/passwd", "gopher"])
    async def test_says_what_could_not_be_reached(self, url: str) -> None:
        with pytest.raises(HeadgateError, match=r"could not be reached|is not a URL"):
            await produce(loaded(self.CODE), {"values": {"url": pack(url)}, "outputs": ["page"]})
