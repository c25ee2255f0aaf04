"""Step policies at run time: input sources, bindings, contracts, output types."""

import io
from typing import Any, ClassVar

import orjson
import pytest
from pypdf import PdfReader

from headgate.features.catalog.registry import Registry
from headgate.features.runs.errors import ContractBroken, PolicyUnmet
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.steps.policies import without_fence
from headgate.foundation.errors import Cancelled, UpstreamFailed
from headgate.graph.model import Flow, HttpCall, InputSource, InputType, Node, OutputType, StepPolicy
from headgate.graph.validate import check_draft
from headgate.sdk import Component, Data, File, Message, RunInput, Text, field, output
from tests.support.engine import COMPONENTS, make_flow
from tests.support.images import png
from tests.support.steps import KEY, StepBench, make_bench


class Take(Component):
    """Takes data only."""

    value: Data = field(default=None, main=True)
    extra: str = field(default="")

    @output()
    def data(self) -> Data:
        return {"value": self.value, "extra": self.extra}


class TakeFile(Component):
    """Takes a file."""

    file: File = field(main=True)

    @output()
    def text(self) -> Text:
        return self.file.name


class TakeMessage(Component):
    """Takes a message."""

    message: Message = field(main=True)

    @output()
    def text(self) -> Text:
        return f"{self.message.text} {len(self.message.files)}"


ALL: tuple[type[Component], ...] = (*COMPONENTS, Take, TakeFile, TakeMessage)
URL = "https://api.example.org/data"


def bench() -> StepBench:
    return make_bench(ALL)


def step(type_: str, policy: StepPolicy, **params: Any) -> Flow:
    """A start and then a step with a policy."""
    node = Node(id="it", type=type_, policy=policy, params=params)
    into = {"Echo": "input", "Take": "extra", "TakeFile": "file", "TakeMessage": "message", "Join": "parts"}[type_]
    edges = [] if type_ == "TakeFile" else [f"start.text -> it.{into}"]
    return make_flow({"start": "Start", "it": node}, edges)


STARTED = {"start": {"text": "from the edge"}}


class TestFlowInput:
    @pytest.mark.parametrize(
        ("type_", "expected"),
        [
            ("Echo", "typed"),
            ("Take", {"value": {"text": "typed", "who": "Anna"}, "extra": "from the edge"}),
            ("TakeMessage", "typed 1"),
            ("TakeFile", "scan.png"),
        ],
    )
    async def test_comes_in_the_form_the_field_takes(self, type_: str, expected: Any) -> None:
        file = File(id="f", name="scan.png", media_type="image/png")
        given = RunInput(text="typed", form_data={"who": "Anna"}, files=(file,))
        policy = StepPolicy(input_source=InputSource.FLOW_INPUT)
        found = await bench().execute(step(type_, policy), "it", STARTED, given)
        assert next(iter(found.outputs.values())) == expected

    async def test_needs_a_file_where_a_file_is_taken(self) -> None:
        policy = StepPolicy(input_source=InputSource.FLOW_INPUT, input_type=InputType.DOCUMENT)
        with pytest.raises(PolicyUnmet, match="requires a file, but the run has none"):
            await bench().execute(step("TakeFile", policy), "it", STARTED)

    async def test_becomes_a_list_where_many_are_taken(self) -> None:
        policy = StepPolicy(input_source=InputSource.FLOW_INPUT)
        found = await bench().execute(step("Join", policy), "it", STARTED, RunInput(text="one"))
        assert found.outputs["text"] == "one"


class TestDelivery:
    async def test_without_an_address_is_told_and_not_left_out(self) -> None:
        """A version may be run by its number that was kept of a draft half done."""
        with pytest.raises(PolicyUnmet, match="but none is set"):
            await bench().execute(step("Echo", StepPolicy(output_mode="http_post")), "it", STARTED)


class TestFetchedInput:
    def get(self, **call: Any) -> StepPolicy:
        return StepPolicy(input_source=InputSource.HTTP_GET, input_config=HttpCall(url=URL, **call))

    async def test_is_the_text_of_the_answer(self) -> None:
        made = bench()
        made.secrets.values["API_KEY"] = "s3cret"
        made.http.answer(URL, "page text")
        policy = self.get(
            headers={"authorization": {"secret": "API_KEY"}, "x-from": "{{flow_input.text}}"}, timeout_seconds=7
        )
        found = await made.execute(step("Echo", policy), "it", STARTED, RunInput(text="me"))
        assert found.outputs["text"] == "page text"
        (request,) = made.http.requests
        assert (request.headers, request.timeout_seconds) == ({"authorization": "s3cret", "x-from": "me"}, 7)
        assert made.recorder.input == {
            "source": "http_get",
            "url": URL,
            "status": 200,
            "media_type": "text/plain",
            "text": "page text",
        }
        assert "s3cret" not in str(found.record)

    async def test_is_data_where_only_data_is_taken(self) -> None:
        made = bench()
        made.http.answer(URL, {"a": [1]})
        found = await made.execute(step("Take", self.get()), "it", STARTED)
        assert found.outputs["data"] == {"value": {"a": [1]}, "extra": "from the edge"}

    async def test_becomes_a_file_when_it_is_not_text(self) -> None:
        made = bench()
        made.http.answer(URL, b"\x89PNG", media_type="image/png")
        found = await made.execute(step("TakeFile", self.get()), "it", STARTED)
        assert found.outputs["text"] == "data"
        assert list(made.files.contents.values()) == [b"\x89PNG"]

    async def test_posts_a_body_in_which_values_are_escaped(self) -> None:
        made = bench()
        made.http.answer(URL, "ok", method="POST")
        policy = StepPolicy(
            input_source=InputSource.HTTP_POST,
            input_config=HttpCall(url=URL, body='{"said": "{{start.text}}"}'),
        )
        await made.execute(step("Echo", policy), "it", {"start": {"text": 'a "quote"\n'}})
        (request,) = made.http.requests
        assert request.json == {"said": 'a "quote"\n'}
        assert request.headers["content-type"] == "application/json"

    async def test_that_is_an_error_fails_the_step(self) -> None:
        made = bench()
        made.http.answer(URL, "gone", status=410)
        with pytest.raises(UpstreamFailed, match="answered 410"):
            await made.execute(step("Echo", self.get()), "it", STARTED)

    async def test_is_not_fetched_for_a_cancelled_run(self) -> None:
        made = bench()
        made.cancelled = True
        with pytest.raises(Cancelled):
            await made.execute(step("Echo", self.get()), "it", STARTED)
        assert made.http.requests == []


class TestAllPreviousSteps:
    async def test_come_in_numbered_blocks_without_skipped_ones(self) -> None:
        policy = StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)
        flow = make_flow(
            {
                "start": "Start",
                "fork": "Fork",
                "no": "Echo",
                "yes": "Echo",
                "join": "Join",
                "it": Node(id="it", type="Echo", policy=policy),
            },
            [
                "start.text -> fork.input",
                "fork.right -> no.input",
                "fork.left -> yes.input",
                "no.text -> join.parts",
                "yes.text -> join.parts",
                "join.text -> it.input",
            ],
        )
        results = {"start": {"text": "a"}, "fork": {"left": "b"}, "yes": {"text": "c"}, "join": {"text": "d"}}
        found = await bench().execute(flow, "it", results)
        assert found.outputs["text"] == "\n".join(
            f"<step_{number}_output>\n{text}\n</step_{number}_output>"
            for number, text in ((1, "a"), (2, "b"), (4, "c"), (5, "d"))
        )


class TestBindings:
    async def test_fill_fields_and_are_kept_as_evidence(self) -> None:
        policy = StepPolicy(input_bindings={"extra": "for {{flow_input.who}}", "value": "{{start.text}}"})
        made = bench()
        given = RunInput(form_data={"who": "Åsa"})
        found = await made.execute(step("Take", policy), "it", {"start": {"text": "x"}}, given)
        assert found.outputs["data"] == {"value": "x", "extra": "for Åsa"}
        assert made.recorder.input == {"bindings": {"extra": "for Åsa", "value": "x"}}


class TestContracts:
    SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "json",
        "schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
    }

    async def test_let_through_what_keeps_them(self) -> None:
        policy = StepPolicy(input_contract=self.SCHEMA, output_contract={"type": "text", "max_length": 50})
        found = await bench().execute(step("Echo", policy), "it", {"start": {"text": '```json\n{"n": 1}\n```'}})
        assert found.outputs["text"] == '```json\n{"n": 1}\n```'

    async def test_name_the_path_in_the_input(self) -> None:
        policy = StepPolicy(input_contract=self.SCHEMA)
        with pytest.raises(ContractBroken, match="input of step 'it' violates its contract: \\$\\.n") as caught:
            await bench().execute(step("Echo", policy), "it", {"start": {"text": '{"n": "one"}'}})
        assert caught.value.extra["violations"] == [
            {"path": "$.n", "message": caught.value.detail.split(": ", 2)[2][:-1]}
        ]

    async def test_name_the_fault_of_the_output(self) -> None:
        policy = StepPolicy(output_contract={"type": "text", "max_length": 3})
        with pytest.raises(ContractBroken, match=r"output of step 'it'.*at most 3 characters"):
            await bench().execute(step("Echo", policy), "it", {"start": {"text": "long"}})

    async def test_look_at_the_kind_of_a_file(self) -> None:
        policy = StepPolicy(input_source=InputSource.FLOW_INPUT, input_type=InputType.IMAGE)
        file = File(id="f", name="a.pdf", media_type="application/pdf")
        with pytest.raises(ContractBroken, match="must be of an image"):
            await bench().execute(step("TakeFile", policy), "it", STARTED, RunInput(files=(file,)))

    async def test_refuse_text_that_should_be_json(self) -> None:
        with pytest.raises(PolicyUnmet, match="input of step 'it' is not JSON"):
            await bench().execute(step("Echo", StepPolicy(input_type=InputType.JSON)), "it", STARTED)


class TestJsonOutput:
    async def test_is_taken_out_of_its_code_block(self) -> None:
        policy = StepPolicy(output_type=OutputType.JSON)
        said = 'Here you are:\n```json\n{"n": 1}\n```\nAnything else?'
        found = await bench().execute(step("Echo", policy), "it", {"start": {"text": said}})
        assert found.outputs["text"] == '{"n": 1}'

    async def test_that_is_none_fails_the_step(self) -> None:
        policy = StepPolicy(output_type=OutputType.JSON)
        with pytest.raises(PolicyUnmet, match="output of step 'it' is not JSON"):
            await bench().execute(step("Echo", policy), "it", STARTED)


class TestDocumentOutput:
    async def test_is_a_file_beside_the_text(self) -> None:
        made = bench()
        policy = StepPolicy(output_type=OutputType.DOCX)
        found = await made.execute(step("Echo", policy), "it", {"start": {"text": "# Å"}})
        file = found.outputs["document"]
        assert isinstance(file, dict)
        assert found.outputs["text"] == "# Å"
        assert file["name"] == "it.docx"
        payload = orjson.loads(found.record.output_payload or "")
        assert (payload["main"], payload["file_ids"]) == ("text", [file["id"]])
        assert payload["generated_file_ids"] == [file["id"]]
        assert made.files.origins[str(file["id"])] == Origin(KEY, "it")

    async def test_goes_on_to_a_step_that_takes_a_file(self) -> None:
        node = Node(id="it", type="Echo", policy=StepPolicy(output_type=OutputType.PDF), label="Årsrapport: 1")
        flow = make_flow(
            {"start": "Start", "it": node, "next": "TakeFile"},
            ["start.text -> it.input", "it.document -> next.file"],
        )
        made = bench()
        before = dict((await made.execute(flow, "it", STARTED)).outputs)
        found = await made.execute(flow, "next", {**STARTED, "it": before})
        assert found.outputs["text"] == "Årsrapport: 1.pdf"

    async def test_shows_images_that_earlier_steps_made(self) -> None:
        made = bench()
        await made.files.save(Origin(KEY, "start"), "kurva.png", png(), "image/png")
        policy = StepPolicy(output_type=OutputType.PDF)
        found = await made.execute(step("Echo", policy), "it", {"start": {"text": "![kurva](kurva.png)"}})
        file = found.outputs["document"]
        assert isinstance(file, dict)
        content = await made.files.read(KEY.tenant_id, str(file["id"]))
        assert len(PdfReader(io.BytesIO(content)).pages[0].images) == 1

    def test_is_refused_of_a_step_that_gives_no_text(self) -> None:
        node = Node(id="it", type="Keep", policy=StepPolicy(output_type=OutputType.PDF))
        flow = make_flow({"start": "Start", "it": node}, ["start.text -> it.input"])
        assert [issue.field for issue in check_draft(flow, Registry(ALL))] == ["output_type"]


class TestWithoutFence:
    @pytest.mark.parametrize(
        ("text", "content"),
        [
            ('{"a": 1}', '{"a": 1}'),
            ("```\n[1]\n```", "[1]"),
            ("```json\n[1]\n```", "[1]"),
            ("say\n```JSON  \n[1]\n  ```", "[1]"),
            ("``` not a block", "``` not a block"),
        ],
    )
    def test_finds_the_first_block(self, text: str, content: str) -> None:
        assert without_fence(text) == content


def test_the_tenant_of_the_bench_is_not_the_default_one() -> None:
    assert KEY.tenant_id == "tenant"
