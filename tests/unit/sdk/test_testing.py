"""The harness that component authors test with."""

import pytest

from headgate.foundation.errors import Cancelled, Forbidden, Invalid, NotFound, UpstreamFailed
from headgate.graph.manifest import Manifest
from headgate.sdk import NOT_TAKEN, Component, Data, File, Message, Model, SecretReference, Table, output
from headgate.sdk.coerce import ValueMismatch
from headgate.sdk.testing import CodeCall, FakeCode, FakeContext, FakeFiles, FakeHttp, StepHarness
from tests.unit.sdk.samples import Sample


class Liar(Component):
    """Promises data and gives a set."""

    @output()
    def data(self) -> Data:
        """Not JSON."""
        return {1, 2}  # type: ignore[return-value]


class TestStepHarness:
    async def test_gives_every_output(self) -> None:
        outputs = await StepHarness().run(Sample, {"text": "a"})
        assert outputs == {"text": "a a", "data": [2, "quiet"], "loud": NOT_TAKEN, "late": "late!"}

    async def test_gives_the_outputs_asked_for(self) -> None:
        assert await StepHarness().run(Sample, {"text": "a"}, outputs=["late"]) == {"late": "late!"}

    async def test_coerces_as_edges_do(self) -> None:
        outputs = await StepHarness().run(
            Sample, {"text": Table(columns=["x"], rows=[[1]]), "parts": [{"a": 1}, "b"], "times": 1}
        )
        assert outputs["text"] == "| x |\n| --- |\n| 1 |"

    async def test_refuses_an_output_that_is_not_what_it_says(self) -> None:
        with pytest.raises(ValueMismatch, match="value is set"):
            await StepHarness().run(Liar, {})

    async def test_gives_the_run_input_and_files(self) -> None:
        harness = StepHarness(
            text="hi", form={"a": 1}, files={"a.csv": b"x"}, history=[Message(text="old")], secrets={"k": "v"}
        )
        file = harness.ctx.input.files[0]
        assert (harness.ctx.input.text, harness.ctx.input.form_data) == ("hi", {"a": 1})
        assert file == File(id="file-1", name="a.csv", media_type="text/csv", size=1)
        assert await harness.ctx.files.read(file) == b"x"
        assert (await harness.ctx.secret(SecretReference("k"))).get_secret_value() == "v"


class TestFakeHttp:
    async def test_gives_scripted_answers_in_turn_and_keeps_requests(self) -> None:
        http = FakeHttp()
        http.answer("https://a.test", {"n": 1}, method="POST")
        http.answer("https://a.test", "two", method="POST", status=500, headers={"X-A": "b"})
        first = await http.request("POST", "https://a.test", body='{"q": 1}')
        second = await http.request("POST", "https://a.test")
        third = await http.request("POST", "https://a.test")
        assert (first.text, first.media_type) == ('{"n": 1}', "application/json")
        assert (second.status, second.text, second.headers["x-a"], third.text) == (500, "two", "b", "two")
        assert http.requests[0].json == {"q": 1}

    async def test_fails_as_scripted_and_everywhere_else(self) -> None:
        http = FakeHttp()
        http.fail("https://a.test", Forbidden("private"))
        with pytest.raises(Forbidden):
            await http.request("GET", "https://a.test")
        with pytest.raises(UpstreamFailed, match=r"https://b\.test"):
            await http.request("GET", "https://b.test")


class TestFakeCode:
    async def test_answers_trusted_functions_too_and_keeps_what_the_code_may_reach(self) -> None:
        manifest = Manifest(imports=("headgate",))
        code = FakeCode(lambda code, host, arguments: [code, host, dict(arguments)])
        answer = await code.call_host("x = 1", "a:b", {"n": 1}, manifest=manifest, timeout_seconds=2)
        assert answer == ["x = 1", "a:b", {"n": 1}]
        assert code.calls == [CodeCall("x = 1", "a:b", {"n": 1}, 2, manifest)]


class TestFakeContext:
    async def test_keeps_what_a_component_did(self) -> None:
        ctx = FakeContext()
        await ctx.emit("a")
        await ctx.sleep(2)
        ctx.record_prompt("p")
        ctx.record_usage(Model(provider="p", name="n"), input_tokens=1, output_tokens=None)
        ctx.record_tool_call("t", {"a": 1}, "r")
        ctx.log("line", rows=2)
        assert (ctx.tokens, ctx.slept, ctx.prompts, ctx.usage) == (["a"], [2], ["p"], [("p/n", 1, None)])
        assert (ctx.tool_calls, ctx.logs) == ([("t", {"a": 1}, "r")], ['line {"rows": 2}'])

    async def test_is_cancelled_when_told(self) -> None:
        ctx = FakeContext(cancelled=True)
        with pytest.raises(Cancelled):
            await ctx.check_cancelled()
        with pytest.raises(Cancelled):
            await ctx.sleep(1)

    async def test_names_what_is_not_scripted(self) -> None:
        ctx = FakeContext()
        with pytest.raises(Invalid, match="p/n"):
            await ctx.chat_model(Model(provider="p", name="n"))
        with pytest.raises(NotFound, match="'k'"):
            await ctx.secret(SecretReference("k"))
        with pytest.raises(Invalid, match="code"):
            await ctx.code.call("", "run", {})
        with pytest.raises(NotFound, match="gone"):
            await FakeFiles().read(File(id="x", name="gone"))
