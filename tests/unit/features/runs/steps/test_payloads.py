from typing import Any

import orjson
import pytest

from headgate.features.catalog.registry import Registry
from headgate.features.runs.errors import OutputTooLarge
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.steps.payloads import Packer, glimpse, main_text, presented, run_output, unpack
from headgate.features.runs.steps.planned import PlannedStep, Plans
from headgate.features.runs.transitions import RunKey
from headgate.foundation.settings import LimitSettings
from headgate.graph.model import Flow
from headgate.graph.ports import PortType
from tests.support.engine import COMPONENTS, MemoryFiles, make_flow

KEY = RunKey("run", "tenant", "flow", 1)
LIMITS = LimitSettings(
    max_inline_text_bytes=300, max_inline_json_bytes=300, max_inline_preview_bytes=64, max_artifact_bytes=1024
)


async def step_of(flow: Flow, step: str) -> PlannedStep:
    async def definition(key: RunKey) -> Flow:
        return flow

    return (await Plans(definition, Registry(COMPONENTS)).of(KEY)).steps[step]


async def both_outputs() -> PlannedStep:
    """A step of which text and data are wanted."""
    flow = make_flow({"big": "Big", "a": "Echo", "b": "Join"}, ["big.text -> a.input", "big.data -> b.parts"])
    return await step_of(flow, "big")


async def packed(outputs: dict[str, Any], files: MemoryFiles, step: PlannedStep | None = None) -> dict[str, Any]:
    found = await Packer(LIMITS, files).pack(Origin(KEY, "big"), step or await both_outputs(), outputs, [])
    payload: dict[str, Any] = orjson.loads(found.payload)
    return payload


class TestPack:
    async def test_keeps_small_values_inline_and_their_text_only_once(self) -> None:
        payload = await packed({"text": "hej", "data": [1]}, MemoryFiles())
        assert payload == {
            "outputs": {"text": {"type": "Text", "value": "hej"}, "data": {"type": "Data", "value": [1]}},
            "main": "text",
        }

    async def test_counts_the_items_of_lists(self) -> None:
        outputs: dict[str, Any] = {"text": "hej", "data": [1, 2, 3]}
        found = await Packer(LIMITS, MemoryFiles()).pack(Origin(KEY, "big"), await both_outputs(), outputs, [])
        assert found.items == {"data": 3}

    async def test_counts_the_bytes_of_the_text_and_not_of_its_escapes(self) -> None:
        payload = await packed({"text": "\n" * 300, "data": 1}, MemoryFiles())
        assert payload["outputs"]["text"]["value"] == "\n" * 300

    async def test_spills_text_and_data_over_their_caps(self) -> None:
        files = MemoryFiles()
        outputs = {"text": "ö" * 200, "data": ["x" * 400]}
        payload = await packed(outputs, files)
        text, data = payload["outputs"]["text"], payload["outputs"]["data"]
        assert (text["size_bytes"], text["preview"], text["truncated"]) == (400, "ö" * 32, True)
        assert (data["media_type"], data["size_bytes"]) == ("application/json", 404)
        assert files.origins[text["file_id"]] == Origin(KEY, "big")
        assert await unpack(orjson.dumps(payload).decode(), "tenant", files) == outputs

    async def test_refuses_what_is_over_the_largest_artifact(self) -> None:
        files = MemoryFiles()
        with pytest.raises(OutputTooLarge, match="'text' of step 'big' has 1025 bytes"):
            await packed({"text": "x" * 1025, "data": 1}, files)
        assert files.files == {}

    async def test_names_branches_that_were_not_taken(self) -> None:
        payload = await packed({"data": 1}, MemoryFiles())
        assert payload["not_taken"] == ["text"]
        assert "main" not in payload

    async def test_lists_the_files_in_its_outputs(self) -> None:
        step = await step_of(make_flow({"s": "Start", "keep": "Keep"}, ["s.text -> keep.input"]), "keep")
        file = {"id": "f1", "name": "a", "media_type": "text/plain", "size": 1}
        payload = await packed({"file": file}, MemoryFiles(), step)
        assert payload["file_ids"] == ["f1"]


class TestGlimpse:
    @pytest.mark.parametrize(
        ("type_", "value", "shown"),
        [
            (PortType.TEXT, "hej", "hej"),
            (PortType.MESSAGE, {"role": "user", "text": "hej", "files": []}, "hej"),
            (PortType.FILE, {"id": "1", "name": "a.pdf", "media_type": "application/pdf", "size": 3}, "a.pdf"),
            (PortType.DATA, {"text": 1}, '{"text":1}'),
        ],
    )
    def test_is_what_people_read(self, type_: PortType, value: Any, shown: str) -> None:
        assert glimpse(type_, value, orjson.dumps(value)) == shown


class TestPresented:
    def test_always_has_text_and_file_ids(self) -> None:
        payload = {"main": "data", "outputs": {"data": {"type": "Data", "value": {"a": 1}}}}
        shown = presented(payload)
        assert shown is not None
        assert (shown["text"], shown["file_ids"]) == ('{\n  "a": 1\n}', [])

    def test_gives_the_preview_of_an_artifact(self) -> None:
        assert main_text({"main": "text", "outputs": {"text": {"type": "Text", "preview": "begin"}}}) == "begin"

    def test_is_nothing_for_a_step_without_a_result(self) -> None:
        assert presented(None) is None


class TestRunOutput:
    def test_is_the_text_of_the_last_step_that_has_one(self) -> None:
        text = '{"main": "text", "outputs": {"text": {"type": "Text", "value": "%s"}}}'
        stored = {"a": text % "one", "b": text % "two", "c": '{"outputs": {}, "file_ids": ["f"]}'}
        found = orjson.loads(run_output(stored, LIMITS))
        assert found == {"text": "two", "step_ids": ["b"], "file_ids": ["f"]}

    def test_is_cut_to_a_preview(self) -> None:
        text = '{"main": "text", "outputs": {"text": {"type": "Text", "value": "%s"}}}'
        found = orjson.loads(run_output({"a": text % ("å" * 100)}, LIMITS))
        assert (found["text"], found["truncated"]) == ("å" * 32, True)

    def test_is_empty_when_every_last_step_was_skipped(self) -> None:
        assert orjson.loads(run_output({}, LIMITS)) == {"text": None, "step_ids": []}
