import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.canonical import sha256_of
from headgate.graph.execution_hash import step_execution_hash, step_logic_hash
from headgate.graph.model import Flow, HttpCall, InputSource, OutputType, Position, StepPolicy
from headgate.graph.plan import PlanStep, compile_plan
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import json_values
from tests.unit.graph.test_canonical import shuffled
from tests.unit.graph.test_plan import with_tool
from tests.unit.graph.wires import flow, node


def built(policy: StepPolicy | None = None, *, prompt: JsonValue = "p", model: str = "a/b", edge: str = "text") -> Flow:
    """A page, and an agent with a model and a tool."""
    return flow(
        node("page", "URL", url="https://x"),
        node("llm", "LanguageModel", model=model),
        node("calc", "Calculator", expression="1"),
        node("boss", "Agent", policy, instructions=prompt),
        node("out", "ChatOutput"),
        edges=f"""
        page.{edge} -> boss.input
        llm.model -> boss.model
        calc.tool -> boss.tools
        boss.response -> out.input
        """,
    )


def boss(made: Flow) -> PlanStep:
    return compile_plan(made, PALETTE).step("boss")


def hashed(made: Flow, *, pin: str = "run:1", seen: JsonValue = "input") -> str:
    return step_execution_hash(boss(made), run_pin=pin, input_context=sha256_of(seen))


class TestStepExecutionHash:
    @settings(deadline=None)
    @given(st.text(max_size=20).filter(lambda text: "\x00" not in text), st.integers(-5000, 5000))
    def test_ignores_cosmetic_edits(self, text: str, x: int) -> None:
        made = built()
        nodes = tuple(
            one.model_copy(
                update={"label": text, "position": Position(x=x, y=-x), "params": dict(reversed(one.params.items()))}
            )
            for one in made.nodes
        )
        cosmetic = made.model_copy(update={"nodes": nodes, "name": text or "x", "description": text})
        assert hashed(cosmetic) == hashed(made)

    @given(json_values)
    def test_ignores_the_order_of_members(self, value: JsonValue) -> None:
        assert hashed(built(prompt=shuffled(value)), seen=shuffled(value)) == hashed(built(prompt=value), seen=value)

    @pytest.mark.parametrize(
        "changed",
        [
            built(prompt="q"),
            built(prompt=["p"]),
            built(model="a/c"),
            built(edge="title"),
            built(StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)),
            built(StepPolicy(output_type=OutputType.PDF)),
            built(StepPolicy(tool_policy="restricted")),
            built(StepPolicy(tool_policy="restricted", tool_allowlist=("x",))),
            built(StepPolicy(output_classification_override=0)),
            built(StepPolicy(input_contract={})),
            built(StepPolicy(output_contract={"type": "text"})),
            built(StepPolicy(input_bindings={"input": "{{page.text}}"})),
            built(StepPolicy(output_mode="http_post", output_config=HttpCall(url="https://y"))),
        ],
    )
    def test_changes_with_every_logic_edit(self, changed: Flow) -> None:
        assert hashed(changed) != hashed(built())

    def test_changes_with_code_pin_and_input(self) -> None:
        made = built()
        coded = made.model_copy(
            update={
                "nodes": tuple(one.model_copy(update={"code": "x"} if one.id == "boss" else {}) for one in made.nodes)
            }
        )
        assert len({hashed(made), hashed(coded), hashed(made, pin="run:2"), hashed(made, seen="other")}) == 4

    def test_changes_with_what_was_resolved_outside(self) -> None:
        step = boss(built())
        assert step_logic_hash(step, {"prompt": "a"}) != step_logic_hash(step, {"prompt": "b"}) != step_logic_hash(step)

    def test_follows_attachments_of_attachments(self) -> None:
        def chained(model: str) -> str:
            made = flow(
                node("llm", "LanguageModel", model=model),
                node("helper", "StructuredOutput"),
                node("map", "Map"),
                edges="llm.model -> helper.model\nhelper.tool -> map.each",
            )
            return step_logic_hash(compile_plan(made, with_tool("StructuredOutput")).step("map"))

        assert chained("a/b") != chained("a/c")

    def test_does_not_depend_on_what_happens_elsewhere(self) -> None:
        made = built()
        elsewhere = made.model_copy(update={"nodes": (*made.nodes, node("more", "URL", url="z"))})
        assert hashed(elsewhere) == hashed(made)
