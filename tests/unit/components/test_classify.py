"""One way out of many, as a model chooses."""

import json
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel

from headgate.components.classify import MOST_LABELS, Classify, read_labels
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import NOT_TAKEN, ComponentError
from headgate.sdk.testing import StepHarness
from tests.support.openai_server import OpenAIServer
from tests.unit.components.test_ai import MODEL, over_the_wire

LABELS = ["refund: asks for money back", "Broken thing"]


async def classified(*answers: Any, value: Any = "I want my money back", **values: Any) -> dict[str, Any]:
    """The outputs that a model with structured output leads to, over the wire."""
    with OpenAIServer() as server:
        server.script(*(server.structured(answer) for answer in answers))
        harness = StepHarness(chat_model=over_the_wire(server))
        inputs = {"model": MODEL, "value": value, "labels": LABELS, **values}
        outputs = await harness.run(Classify, inputs)
        outputs["asked"] = [request.body for request in server.asked]
        return outputs


def taken(outputs: dict[str, Any]) -> str:
    names = [name for name in ("refund", "broken_thing", "otherwise") if outputs[name] is not NOT_TAKEN]
    assert len(names) == 1
    return names[0]


class TestClassify:
    @pytest.mark.parametrize("value", ["I want my money back", {"id": 7, "text": "money"}, ["a", 1]])
    async def test_passes_the_value_on_unchanged(self, value: Any) -> None:
        outputs = await classified({"label": "refund", "confidence": 0.9}, value=value)
        assert taken(outputs) == "refund"
        assert outputs["refund"] == value
        assert outputs["decision"] == {"label": "refund", "confidence": 0.9, "output": "refund"}

    async def test_asks_once_with_the_labels_as_choices(self) -> None:
        outputs = await classified({"label": "Broken thing", "confidence": 1}, instructions="Be strict.")
        (asked,) = outputs["asked"]
        schema = asked["response_format"]["json_schema"]["schema"]
        assert schema["properties"]["label"]["enum"] == ["refund", "Broken thing", "none_of_these"]
        prompt = json.dumps(asked["messages"])
        assert "refund: asks for money back" in prompt
        assert "Be strict." in prompt
        assert "I want my money back" in prompt
        assert taken(outputs) == "broken_thing"

    @pytest.mark.parametrize(("confidence", "way"), [(0.7, "refund"), (0.69, "otherwise"), (0, "otherwise")])
    async def test_needs_the_confidence_that_was_set(self, confidence: float, way: str) -> None:
        outputs = await classified({"label": "refund", "confidence": confidence}, min_confidence=0.7)
        assert taken(outputs) == way
        assert outputs["decision"] == {"label": "refund", "confidence": confidence, "output": way}

    async def test_takes_otherwise_when_the_model_names_none(self) -> None:
        outputs = await classified({"label": "none_of_these", "confidence": 0.95})
        assert taken(outputs) == "otherwise"
        assert outputs["decision"] == {"label": None, "confidence": 0.95, "output": "otherwise"}

    async def test_never_takes_another_answer_for_a_label(self) -> None:
        wrong = {"label": "refund please", "confidence": 1}
        outputs = await classified(wrong, wrong, wrong)
        assert taken(outputs) == "otherwise"
        assert outputs["decision"] == {"label": None, "confidence": 0.0, "output": "otherwise"}
        assert len(outputs["asked"]) == 3
        assert "It was wrong" in json.dumps(outputs["asked"][2])

    async def test_uses_the_corrected_answer(self) -> None:
        outputs = await classified(
            {"label": "refund", "confidence": 7}, {"label": "x", "confidence": 1}, {"label": "refund", "confidence": 1}
        )
        assert taken(outputs) == "refund"

    @pytest.mark.parametrize("answers", [("No idea.", "Sorry."), ("{}", "[]"), ('{"label": 3}', '{"label": 3}')])
    async def test_fails_when_the_answer_is_no_choice(self, answers: tuple[str, str]) -> None:
        harness = StepHarness(chat_model=GenericFakeChatModel(messages=iter(answers)))
        with pytest.raises(ComponentError, match="Classify: the answer of openai/gpt-5-mini does not match"):
            await harness.run(Classify, {"model": MODEL, "value": "x", "labels": LABELS})

    async def test_asks_a_model_without_schemas_by_prompt(self) -> None:
        answer = '```json\n{"label": "refund", "confidence": 0.8}\n```'
        harness = StepHarness(chat_model=GenericFakeChatModel(messages=iter([answer])))
        outputs = await harness.run(Classify, {"model": MODEL, "value": "x", "labels": LABELS})
        assert outputs["refund"] == "x"
        assert any("Classified." in str(line) for line in harness.ctx.logs)

    async def test_raises_the_error_of_the_model(self) -> None:
        with OpenAIServer() as server:
            server.script(server.wrong_key("Incorrect API key provided."))
            harness = StepHarness(chat_model=over_the_wire(server))
            with pytest.raises(UpstreamFailed, match="Incorrect API key"):
                await harness.run(Classify, {"model": MODEL, "value": "x", "labels": LABELS})

    async def test_a_label_may_be_named_like_the_answer_for_none(self) -> None:
        outputs = await classified(
            {"label": "none_of_these", "confidence": 1}, labels=["none_of_these", "refund", "Broken thing"]
        )
        assert outputs["none_of_these"] == "I want my money back"


class TestLabels:
    @pytest.mark.parametrize(
        ("labels", "fault"),
        [
            (["one"], "It has 1 labels; 2 to 50 are possible."),
            ([f"l{number}" for number in range(MOST_LABELS + 1)], "It has 51 labels"),
            (["Refund: a", "refund: b"], "'refund' is there more than once|'Refund' is there more than once"),
            (["a", ": what"], "A label has no name."),
            (["a", "x" * 61], "more than 60 characters"),
            (["a", "b: " + "x" * 501], "more than 500 characters"),
            (["a", 3], "Each label is a text"),
            ({"a": "b"}, "Labels are a list"),
        ],
    )
    def test_are_bounded(self, labels: Any, fault: str) -> None:
        with pytest.raises(ComponentError, match=fault) as caught:
            read_labels(labels)
        assert caught.value.extra["field"] == "labels"

    def test_may_be_written_as_text(self) -> None:
        assert [label.name for label in read_labels("a, b, c")] == ["a", "b", "c"]
        assert [label.description for label in read_labels("a: x, y\nb: z")] == ["x, y", "z"]
        assert [label.name for label in read_labels('["a", "b: c"]')] == ["a", "b"]

    def test_are_the_outputs_that_edges_name(self) -> None:
        outputs = Classify.template({"labels": ["Very urgent: now", "Decision", "otherwise", "tool", "Åtgärd"]}).outputs
        assert [out.name for out in outputs] == [
            *("very_urgent", "decision_2", "otherwise_2", "tool_2", "atgard", "otherwise", "decision")
        ]

    @pytest.mark.parametrize("labels", [None, 3, {}, [], [1, None], ["", " "], [["a"]]])
    def test_that_are_none_leave_the_other_outputs(self, labels: Any) -> None:
        assert [out.name for out in Classify.template({"labels": labels}).outputs] == ["otherwise", "decision"]
