"""Generating a component: the model's protocol is real, its words are scripted, the sandbox is real (seed 001)."""

import json

import pytest

from headgate.agents.assistant.generation.pipeline import Generation
from headgate.agents.assistant.turn.usage import Budget, BudgetSpent
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.models.errors import ModelNotAccessible, ModelUnreachable
from tests.integration.agents.assistant.generation.conftest import TurnFlow
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.asyncio(loop_scope="package")

SUM = '''from headgate.sdk import Component, Data, field, output


class SumComponent(Component):
    """Adds two numbers. Use it to add."""

    a: float = field(label="A", help="The first number.", main=True, tool_mode=True)
    b: float = field(label="B", help="The second number.", tool_mode=True)

    @output(label="Sum")
    def add_numbers(self) -> Data:
        """The sum."""
        return {"sum": self.a + self.b}
'''
SYNTAX = SUM.replace("def add_numbers(self)", "def add_numbers(self")
IMPORT = SUM.replace("from headgate.sdk import", "import no_such_module\nfrom headgate.sdk import")
NO_CLASS = "def add(a, b):\n    return a + b\n"
RESERVED = SUM.replace('@output(label="Sum")', '@output(name="component_as_tool")')
MALICIOUS = SUM.replace('"""The sum."""', '"""The sum."""\n        import subprocess\n        subprocess.run(["id"])')
BUILT_IN = SUM.replace("SumComponent", "ChatInput")
PASSED = ["generating_component", "generation_complete", "extracting_code", "validating", "validated"]
FAILED = [*PASSED[:4], "validation_failed"]


def answer(code: str) -> str:
    return f"Here it is:\n\n```python\n{code}```\n"


def asked(server: OpenAIServer, number: int) -> str:
    """What the model was asked, all messages."""
    return "\n".join(str(message["content"]) for message in server.asked[number].body["messages"])


class TestGenerate:
    async def test_passes_at_the_first_attempt(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        openai.script(openai.text(answer(SUM), tokens=(900, 200)))
        made = await generation.generate("a component that sums a + b")
        assert (made.checked.type, made.checked.code, made.attempts) == ("SumComponent", SUM, 1)
        assert [out.name for out in made.checked.template.outputs] == ["add_numbers"]
        assert [field.name for field in made.checked.template.fields] == ["a", "b"]
        assert desk.steps == PASSED
        validated = desk.event("validated")
        assert (validated["attempt"], validated["max_attempts"]) == (1, 3)
        assert (validated["class_name"], validated["component_code"]) == ("SumComponent", SUM)
        assert desk.turn.usage.as_json() == {"input_tokens": 900, "output_tokens": 200, "total_tokens": 1100}

    async def test_fails_twice_and_then_passes(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        scripts = [openai.text(answer(code), tokens=(100, 10)) for code in (SYNTAX, IMPORT, SUM)]
        openai.script(*scripts)
        made = await generation.generate("a component that sums a + b")
        assert (made.checked.type, made.attempts) == ("SumComponent", 3)
        assert desk.steps == [*FAILED, "retrying", *FAILED, "retrying", *PASSED]
        assert [event["attempt"] for event in desk.told if event["step"] == "validation_failed"] == [1, 2]
        assert desk.turn.usage.phases["main"].as_json()["total_tokens"] == 330

    async def test_shows_the_model_what_was_wrong_and_the_code(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        openai.script(openai.text(answer(SYNTAX)), openai.text(answer(SUM)))
        await generation.generate("a component that sums a + b")
        retry = asked(openai, 1)
        assert "a component that sums a + b" in retry
        assert SYNTAX in retry
        said = desk.event("validation_failed")["error"]
        assert said in retry
        assert "line 11" in said
        assert "syntax error" in said
        assert desk.event("retrying")["error"] == said

    async def test_is_honest_when_no_attempt_passed(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        openai.script(openai.text(answer(SYNTAX), tokens=(10, 1)))
        with pytest.raises(ComponentNotMade, match="No working component after 3 attempts") as caught:
            await generation.generate("a component that sums a + b")
        assert caught.value.extra["attempts"] == 3
        assert caught.value.extra["component_code"] == SYNTAX
        assert caught.value.extra["class_name"] == "SumComponent"
        assert caught.value.extra["findings"]
        assert desk.steps == [*FAILED, "retrying", *FAILED, "retrying", *FAILED]
        assert desk.turn.usage.total == 33

    @pytest.mark.parametrize("most", [1, 2, 5])
    async def test_makes_as_many_attempts_as_it_was_told(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow, most: int
    ) -> None:
        openai.script(openai.text("I cannot."))
        generation.max_retries = most
        with pytest.raises(ComponentNotMade):
            await generation.generate("x")
        assert len(openai.asked) == most
        assert {event["max_attempts"] for event in desk.told} == {most}

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            (SYNTAX, "line 11: syntax error"),
            (IMPORT, "No module named 'no_such_module'"),
            (NO_CLASS, "component"),
            (RESERVED, "line 11: the output name 'component_as_tool' is reserved"),
            (MALICIOUS, "line 13: 'subprocess' cannot be imported"),
            (BUILT_IN, "line 4: a component 'ChatInput' is already installed"),
        ],
        ids=["syntax", "import", "no class", "reserved name", "malicious", "name of a built-in"],
    )
    async def test_tells_what_is_wrong_with_the_line(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow, code: str, said: str
    ) -> None:
        openai.script(openai.text(answer(code)), openai.text(answer(SUM)))
        await generation.generate("a component that sums a + b")
        failed = desk.event("validation_failed")
        assert said in failed["error"]
        assert failed["component_code"] == code
        assert said in asked(openai, 1)

    async def test_asks_again_for_code_when_the_answer_has_none(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        openai.script(openai.text("Which numbers do you mean?"), openai.text(answer(SUM)))
        made = await generation.generate("a component that sums a + b")
        assert made.attempts == 2
        assert desk.steps == [*PASSED[:3], "validation_failed", "retrying", *PASSED]
        assert "Could not extract class name from code" in desk.event("validation_failed")["error"]

    async def test_does_not_trust_code_that_was_cut_off(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        reads = answer(SUM).removesuffix('{"sum": self.a + self.b}\n```\n')
        openai.script(openai.text(reads, finish="length"), openai.text(answer(SUM)))
        made = await generation.generate("a component that sums a + b")
        assert made.attempts == 2
        assert "truncated" in desk.event("validation_failed")["error"]
        assert desk.event("validation_failed")["class_name"] == "SumComponent"

    async def test_takes_whole_code_that_lacks_only_its_fence(
        self, generation: Generation, openai: OpenAIServer
    ) -> None:
        openai.script(openai.text(answer(SUM).removesuffix("```\n")))
        assert (await generation.generate("a component that sums a + b")).checked.code == SUM

    async def test_lets_a_model_that_is_not_to_be_had_pass_for_the_next_one(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        openai.script(openai.no_such_model("gpt-5-mini"))
        with pytest.raises(ModelNotAccessible):
            await generation.generate("x")
        assert len(openai.asked) == 1
        assert desk.steps == ["generating_component"]

    async def test_lets_a_connection_that_was_lost_pass(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        openai.script(openai.reset_half_way())
        with pytest.raises(ModelUnreachable):
            await generation.generate("x")
        assert desk.steps == ["generating_component"]

    async def test_stops_when_the_turns_budget_is_spent(
        self, generation: Generation, openai: OpenAIServer, desk: TurnFlow
    ) -> None:
        desk.turn.budget = Budget(tokens=150)
        openai.script(openai.text(answer(SYNTAX), tokens=(90, 10)))
        with pytest.raises(BudgetSpent):
            await generation.generate("x")
        assert len(openai.asked) == 2

    async def test_tells_the_model_the_rules(self, generation: Generation, openai: OpenAIServer) -> None:
        openai.script(openai.text(answer(SUM)))
        await generation.generate("a component that sums a + b")
        told = json.dumps(openai.asked[0].body)
        for rule in ("Agent Tool Compatibility", "component_as_tool", "to_toolkit", "tool_mode=True", "hosts"):
            assert rule in told
