"""An own component as a step: what it is given, and what is made of whatever the sandbox answers."""

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from pydantic import JsonValue

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.runtime import MOST_FILE_BYTES, component_class
from headgate.foundation.errors import HeadgateError
from headgate.graph.manifest import NOTHING, Manifest
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate, Template
from headgate.sdk import NOT_TAKEN, Component, File, Message, RunInput, SecretReference, Table
from headgate.sdk.fakes import FakeCode, FakeContext
from headgate.sdk.tools import tool_of

SAID: dict[str, Any] = {"outputs": {"said": {"value": "hi"}}, "log": [], "tokens": [], "files": []}
HOSTED = Manifest(("headgate",), ("api.example.org",))


def text_field(name: str, **more: Any) -> FieldTemplate:
    return FieldTemplate(name=name, kind=FieldKind.TEXT, types=(PortType.TEXT,), **more)


def checked(*fields: FieldTemplate, manifest: Manifest = NOTHING, **more: Any) -> CheckedComponent:
    outputs = (
        OutputTemplate(name="said", type=PortType.TEXT),
        OutputTemplate(name="made", type=PortType.FILE),
        OutputTemplate(name="never", type=PortType.TEXT, branch=True),
    )
    template = Template(
        type="Sample", label="Sample", description="A sample.", category="other", fields=fields, outputs=outputs, **more
    )
    return CheckedComponent("class Sample: ...", template, manifest)


def context(answer: Any = SAID, **more: Any) -> FakeContext:
    def handler(code: str, function: str, arguments: Mapping[str, JsonValue]) -> Any:
        return answer

    return FakeContext(code=FakeCode(handler), **more)


def made(one: CheckedComponent, ctx: FakeContext, **values: Any) -> Component:
    return component_class(one).create(values, node_id="own").attach(ctx)


SECRET = FieldTemplate(name="key", kind=FieldKind.SECRET)


class TestOwnComponent:
    async def test_asks_once_for_all_that_is_wanted(self) -> None:
        answer = SAID | {"outputs": {"said": {"value": "hi"}, "never": {"not_taken": True}}}
        ctx = context(answer)
        step = made(checked(text_field("text")), ctx, text=Message(text="a"))
        step.expect_outputs(["said", "never"])
        assert [await step.produce("said"), await step.produce("never")] == ["hi", NOT_TAKEN]
        [call] = ctx.code.calls
        assert call.function == "headgate.sdk.hosting:produce"
        assert call.arguments["outputs"] == ["said", "never"]
        assert call.arguments["values"] == {
            "text": {"port": "Message", "value": {"role": "user", "text": "a", "files": []}}
        }

    async def test_gives_the_runs_input_only_to_those_that_read_it(self) -> None:
        given = RunInput(text="hello", form_data={"a": 1}, history=(Message(text="before"),))
        for reads in (False, True):
            ctx = context(input=given)
            await made(checked(reads_input=reads), ctx).produce("said")
            found: Any = ctx.code.calls[0].arguments["input"]
            assert (found or {}).get("text") == ("hello" if reads else None)

    async def test_shows_what_it_logged_and_emitted(self) -> None:
        ctx = context(SAID | {"log": [{"message": "counted", "details": {"n": 3}}], "tokens": ["half "]})
        await made(checked(), ctx).produce("said")
        assert (ctx.logs, ctx.tokens) == (['counted {"n": 3}'], ["half "])

    def test_names_the_field_that_is_missing_without_starting_anything(self) -> None:
        with pytest.raises(HeadgateError, match=r"own \(Sample\): field 'text' is empty"):
            made(checked(text_field("text", required=True)), context())

    @pytest.mark.parametrize(
        "answer",
        [
            None,
            [],
            {"outputs": {}},
            SAID | {"outputs": {}},
            SAID | {"outputs": {"said": {"value": "a"}, "more": {"value": "b"}}},
            SAID | {"log": ["text"]},
            SAID | {"files": [{"id": 1}]},
            SAID | {"surprise": True},
        ],
    )
    async def test_refuses_an_answer_that_is_none(self, answer: JsonValue) -> None:
        with pytest.raises(HeadgateError, match="returned an invalid response"):
            await made(checked(), context(answer)).produce("said")

    async def test_refuses_an_output_of_another_type(self) -> None:
        answer = SAID | {"outputs": {"said": {"value": ["no text"]}}}
        with pytest.raises(HeadgateError, match="A Text was expected"):
            await made(checked(), context(answer)).produce("said")

    async def test_takes_no_untaken_output_that_is_no_branch(self) -> None:
        answer = SAID | {"outputs": {"said": {"not_taken": True}}}
        with pytest.raises(HeadgateError, match="A Text was expected"):
            await made(checked(), context(answer)).produce("said")


class TestSecrets:
    async def test_go_to_components_whose_hosts_may_all_have_them(self) -> None:
        ctx = context(secrets={"API_KEY": "s3cret-value"})
        await made(checked(SECRET, manifest=HOSTED), ctx, key=SecretReference("API_KEY")).produce("said")
        assert ctx.code.calls[0].arguments["values"] == {"key": {"json": "s3cret-value"}}

    @pytest.mark.parametrize("hosts", [(), ("*.example.org",), ("*",)])
    async def test_stay_away_from_components_that_name_no_server(self, hosts: tuple[str, ...]) -> None:
        ctx = context(secrets={"API_KEY": "s3cret-value"})
        with pytest.raises(HeadgateError, match="does not receive the variable API_KEY"):
            await made(checked(SECRET, manifest=Manifest((), hosts)), ctx, key=SecretReference("API_KEY")).produce(
                "said"
            )
        assert ctx.code.calls == []

    @pytest.mark.parametrize("value", ["API_KEY", {"secret": "API_KEY"}, ["API_KEY"], 7])
    async def test_are_never_looked_up_by_a_value_that_came_at_run_time(self, value: object) -> None:
        ctx = context(secrets={"API_KEY": "s3cret-value"})
        with pytest.raises(HeadgateError, match="never a value"):
            await made(checked(SECRET, manifest=HOSTED), ctx, key=value).produce("said")
        assert ctx.code.calls == []

    async def test_are_not_let_out_again(self) -> None:
        answer = SAID | {"outputs": {"said": {"value": "it is s3cret-value"}}}
        ctx = context(answer, secrets={"API_KEY": "s3cret-value"})
        with pytest.raises(HeadgateError, match="returned the secret of its field 'key'"):
            await made(checked(SECRET, manifest=HOSTED), ctx, key=SecretReference("API_KEY")).produce("said")


class TestFiles:
    NEW: ClassVar = {"id": "new-file-1", "name": "a.txt", "media_type": "text/plain", "size": 2}
    FILES = Manifest(files=True)

    async def test_travel_there_where_the_manifest_says_so(self) -> None:
        for manifest in (Manifest(), self.FILES):
            ctx = context()
            file = ctx.files.add("a.txt", b"ab")
            await made(checked(manifest=manifest), ctx, source=[Message(text="", files=(file,))]).produce("said")
            expected = {file.id: base64.b64encode(b"ab").decode()} if manifest.files else {}
            assert ctx.code.calls[0].arguments["files"] == expected

    async def test_are_no_more_than_a_call_can_carry(self) -> None:
        ctx = context()
        file = ctx.files.add("a.bin", b"." * (MOST_FILE_BYTES + 1))
        with pytest.raises(HeadgateError, match="bytes of files"):
            await made(checked(manifest=self.FILES), ctx, source=file).produce("said")

    async def test_become_artifacts_and_every_mention_leads_to_them(self) -> None:
        content = base64.b64encode(b"ab").decode()
        answer = {
            "outputs": {"made": {"value": self.NEW}},
            "log": [],
            "tokens": [],
            "files": [{"id": "new-file-1", "name": "a.txt", "media_type": "text/plain", "content": content}],
        }
        ctx = context(answer)
        found = await made(checked(manifest=self.FILES), ctx).produce("made")
        assert isinstance(found, File)
        assert ctx.files.saved == [found]
        assert await ctx.files.read(found) == b"ab"

    async def test_that_do_not_arrive_whole_are_refused(self) -> None:
        broken = {"id": "new-file-1", "name": "a.txt", "media_type": "text/plain", "content": "?"}
        with pytest.raises(HeadgateError, match="was not received completely"):
            await made(checked(), context(SAID | {"files": [broken]})).produce("said")


class TestAsATool:
    async def test_has_the_arguments_of_its_fields(self) -> None:
        one = checked(
            text_field("text", required=True, tool_mode=True, help="What to say."),
            FieldTemplate(name="times", kind=FieldKind.INTEGER, default=1, tool_mode=True),
            FieldTemplate(name="tone", kind=FieldKind.SELECT, options=("low", "high"), default="low", tool_mode=True),
            FieldTemplate(name="rows", kind=FieldKind.TABLE, types=(PortType.TABLE,), many=True, tool_mode=True),
            text_field("hidden"),
        )
        ctx = context()
        tool = tool_of(component_class(one), {"times": 2}, ctx, name="say")
        properties: Any = tool.parameters["properties"]
        assert set(properties) == {"text", "tone", "rows"}
        assert properties["text"]["type"] == "string"
        assert properties["tone"]["enum"] == ["low", "high"]
        assert properties["rows"]["items"]["required"] == ["columns", "rows"]
        assert tool.parameters["required"] == ["text"]
        assert await tool.call({"text": "a"}) == "hi"
        values: Any = ctx.code.calls[0].arguments["values"]
        assert values == {"times": {"json": 2}, "text": {"json": "a"}}
        assert ctx.code.calls[0].arguments["outputs"] == ["said"]

    async def test_keeps_tables_tables(self) -> None:
        ctx = context()
        await made(checked(), ctx, rows=Table(columns=["a"], rows=[[1]])).produce("said")
        assert ctx.code.calls[0].arguments["values"] == {
            "rows": {"port": "Table", "value": {"columns": ["a"], "rows": [[1]]}}
        }
