"""The chat output."""

from headgate.components.outputs import ChatOutput
from headgate.sdk import File, Message, Table
from headgate.sdk.testing import StepHarness


class TestChatOutput:
    async def test_answers_as_the_assistant(self) -> None:
        file = File(id="1", name="a.png")
        outputs = await StepHarness().run(ChatOutput, {"input": Message(text="hi", files=(file,))})
        assert outputs == {"message": Message(role="assistant", text="hi", files=(file,)), "text": "hi"}

    async def test_shows_tables_and_data_as_text(self) -> None:
        outputs = await StepHarness().run(ChatOutput, {"input": Table(columns=["a"], rows=[[1]])})
        assert outputs["text"] == "| a |\n| --- |\n| 1 |"
        assert (await StepHarness().run(ChatOutput, {"input": [1]}))["text"] == "[\n  1\n]"
