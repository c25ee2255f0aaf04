"""A step that has read a secret gives it to nobody: each way out, whole and in pieces."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from pydantic import JsonValue

from headgate.features.runs.steps.executor import Executed
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.secret_values import REDACTED
from headgate.graph.model import Node
from headgate.sdk import Component, Data, Model, SecretReference, field, output
from tests.support.engine import COMPONENTS, make_flow
from tests.support.steps import StepBench, make_bench

NAME, VALUE = "OUR_TOKEN", "the-organisations/own token+0123456789"
Change = Callable[[str], str]
WAYS: dict[str, Change] = {
    "plain": str,
    "bearer": lambda value: f"Bearer {value}",
    "basic": lambda value: base64.b64encode(f"anna:{value}".encode()).decode(),
    "hex": lambda value: value.encode().hex(),
}


class Leak(Component):
    """Lets a secret out in every way that a component has."""

    key: SecretReference = field()
    way: str = field(default="plain")
    fails: str = field(default="")

    @output()
    async def data(self) -> Data:
        """Everything."""
        value = WAYS[self.way]((await self.ctx.secret(self.key)).get_secret_value())
        for piece in (f"it is {value[:7]}", value[7:8], f"{value[8:]}!", value[:4]):
            await self.ctx.emit(piece)
        self.ctx.log(f"sent {value}", header=value)
        self.ctx.record_prompt("x" * 65_530 + value)
        self.ctx.record_usage(Model(provider="p", name="n", params={"user": value}), input_tokens=1, output_tokens=1)
        self.ctx.record_tool_call("t", {"key": value, value: 1}, {"answer": [value]}, server=value)
        self.ctx.record_tool_call("t", {}, error=f"refused {value}")
        await self.ctx.files.save(f"{value}.txt".replace("/", "|"), f"a {value} b".encode(), "text/plain")
        await self.ctx.files.save("a.bin", b"\0" + value.encode(), "application/octet-stream")
        if self.fails == "own":
            raise Invalid(f"The server said {value}.", remedy=f"Not {value}.", said=[value])
        if self.fails:
            raise ValueError(f"The server said {value}")
        return {"echo": value, value: [value]}


class WriteSecret(Component):
    """Writes a secret into the files of the user who started the run."""

    key: SecretReference = field()
    way: str = field(default="plain")

    @output()
    async def data(self) -> Data:
        """What the tools answered."""
        value = WAYS[self.way]((await self.ctx.secret(self.key)).get_secret_value())
        files = await self.ctx.workspace()
        return [
            await files.write_file(f"{value}.txt", f"a {value} b"),
            await files.edit_file("notes.txt", "old", f"new {value}", replace_all=True),
        ]


class Noted:
    """Workspace tools that keep what they are given."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    async def of_run(self, key: RunKey, root_path: str, *, read_only: bool) -> Any:
        return self

    async def write_file(self, path: str, content: str) -> dict[str, JsonValue]:
        self.written += [path, content]
        return {"status": "ok"}

    async def edit_file(
        self, path: str, old_string: str, new_string: str, *, replace_all: bool = False
    ) -> dict[str, JsonValue]:
        self.written += [path, old_string, new_string, replace_all]
        return {"status": "ok"}


def bench() -> StepBench:
    made = make_bench((*COMPONENTS, Leak))
    made.secrets.values[NAME] = VALUE
    return made


async def execute(made: StepBench, **params: Any) -> tuple[Executed, list[Any]]:
    """Run the step. What it left, and the events that it sent."""
    sent: list[Any] = []
    publish = made.services.bus.publish

    def note(topic: str, kind: str, data: Any, **more: Any) -> None:
        sent.append((kind, data))
        publish(topic, kind, data, **more)

    made.services.bus.publish = note  # type: ignore[method-assign]
    flow = make_flow({"it": Node(id="it", type="Leak", params={"key": {"secret": NAME}, **params})})
    return await made.execute(flow, "it"), sent


def clean(shown: object, way: str) -> bool:
    text = str(shown)
    return VALUE not in text and WAYS[way](VALUE) not in text and orjson.dumps(VALUE).decode()[1:-1] not in text


class TestStep:
    @pytest.mark.parametrize("way", WAYS)
    async def test_lets_no_secret_out(self, way: str) -> None:
        made = bench()
        done, events = await execute(made, way=way)
        assert clean((done.outputs, done.record, done.preview, events, made.files.files, made.files.contents), way)
        text, binary = made.files.contents.values()
        assert REDACTED.encode() in text
        assert len(binary) == 1 + len(WAYS[way](VALUE))
        assert b"******" in binary
        echoed: Any = done.outputs["data"]
        assert REDACTED in echoed["echo"]
        tokens = "".join(data["text"] for kind, data in events if kind == "token")
        assert tokens.startswith("it is ")
        assert REDACTED in tokens

    @pytest.mark.parametrize("fails", ["own", "other"])
    @pytest.mark.parametrize("way", WAYS)
    async def test_fails_without_it(self, way: str, fails: str) -> None:
        made = bench()
        with pytest.raises((HeadgateError, ValueError)) as caught:
            await execute(made, way=way, fails=fails)
        problem = caught.value.problem() if isinstance(caught.value, HeadgateError) else ""
        assert REDACTED in str(caught.value)
        assert clean((caught.value, caught.value.args, problem, made.recorder.as_record()), way)


class TestWorkspace:
    @pytest.mark.parametrize("way", WAYS)
    async def test_is_given_no_secret(self, way: str) -> None:
        files = Noted()
        made = make_bench((*COMPONENTS, WriteSecret), workspaces=files)
        made.secrets.values[NAME] = VALUE
        params = {"key": {"secret": NAME}, "way": way}
        await made.execute(make_flow({"it": Node(id="it", type="WriteSecret", params=params)}), "it")
        assert clean(files.written, way)
        assert files.written[2:4] == ["notes.txt", "old"]
        assert all(REDACTED in files.written[place] for place in (0, 1, 4))
        assert files.written[5] is True
