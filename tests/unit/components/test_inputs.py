"""Components a flow begins with."""

import pytest

from headgate.components.inputs import ChatInput, FileInput, FormInput, TextInput
from headgate.sdk import ComponentError, File, Message
from headgate.sdk.testing import StepHarness


class TestChatInput:
    async def test_gives_the_runs_text_and_files(self) -> None:
        harness = StepHarness(text="hello", files={"a.txt": b"abc"})
        outputs = await harness.run(ChatInput, {})
        assert outputs["text"] == "hello"
        assert outputs["message"] == Message(text="hello", files=harness.ctx.input.files)
        assert outputs["files"] == [{"id": "file-1", "name": "a.txt", "media_type": "text/plain", "size": 3}]

    async def test_prefers_the_text_that_was_set(self) -> None:
        outputs = await StepHarness(text="hello").run(ChatInput, {"text": "set"})
        assert (outputs["text"], outputs["message"].text) == ("set", "set")

    def test_has_no_port(self) -> None:
        assert ChatInput.template().ports == ()


class TestTextInput:
    async def test_gives_its_text_or_the_runs(self) -> None:
        assert await StepHarness(text="run").run(TextInput, {"text": "mine"}) == {"text": "mine"}
        assert await StepHarness(text="run").run(TextInput, {}) == {"text": "run"}


class TestFormInput:
    async def test_gives_every_answer(self) -> None:
        outputs = await StepHarness(form={"ärende": "A1", "n": 2, "x": None}).run(FormInput, {})
        assert outputs == {"data": {"ärende": "A1", "n": 2, "x": None}, "text": "ärende: A1\nn: 2\nx: "}

    @pytest.mark.parametrize("only", [["age"], '["age"]', "age", "age, "])
    async def test_takes_its_list_however_it_is_written(self, only: object) -> None:
        outputs = await StepHarness(form={"name": "Ann", "age": 3}).run(FormInput, {"only": only})
        assert outputs["data"] == {"age": 3}

    async def test_gives_the_chosen_answers_and_logs_what_is_missing(self) -> None:
        harness = StepHarness(form={"name": "Ann", "age": 3})
        outputs = await harness.run(FormInput, {"only": ["age", "nme"]})
        assert outputs["data"] == {"age": 3, "nme": None}
        assert harness.ctx.logs[0] == "The form of this run has no field 'nme'; did you mean 'name'?"


class TestFileInput:
    async def test_gives_the_first_file_of_the_run(self) -> None:
        outputs = await StepHarness(files={"a.txt": b"a", "b.txt": b"bc"}).run(FileInput, {})
        assert outputs["file"].name == "a.txt"
        assert [one["name"] for one in outputs["files"]] == ["a.txt", "b.txt"]

    @pytest.mark.parametrize(
        "answer",
        [
            "b.txt",
            "file-2",
            ["file-2"],
            {"id": "file-2", "name": "a lie", "media_type": "x/y", "size": 1},
        ],
    )
    async def test_finds_the_file_of_a_form_field(self, answer: object) -> None:
        harness = StepHarness(files={"a.txt": b"a", "b.txt": b"bc"}, form={"doc": answer})  # type: ignore[dict-item]
        outputs = await harness.run(FileInput, {"field": "doc"})
        assert outputs["file"] == File(id="file-2", name="b.txt", media_type="text/plain", size=2)

    async def test_says_that_there_is_none(self) -> None:
        with pytest.raises(ComponentError, match="this run has no file"):
            await StepHarness().run(FileInput, {})

    async def test_names_a_field_without_a_file(self) -> None:
        with pytest.raises(ComponentError) as caught:
            await StepHarness(form={"report": None}).run(FileInput, {"field": "raport"})
        assert "the form field 'raport' has no file; did you mean 'report'? Fields of this run: report." in str(
            caught.value
        )
        with pytest.raises(ComponentError, match="'n' is not a file"):
            await StepHarness(form={"n": 3}).run(FileInput, {"field": "n"})
