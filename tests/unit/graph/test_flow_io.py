import pytest
from hypothesis import given

from headgate.graph.flow_io import FlowInput, FlowOutput, classify_io
from headgate.graph.model import Flow, FormField, HttpCall, InputSource, OutputType, StepPolicy
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows
from tests.unit.graph.test_wiring import AGENT
from tests.unit.graph.wires import flow, node

FORM = (FormField(id="namn"), FormField(id="ritning", type="image"))


class TestClassifyIo:
    def test_recognises_a_chat_and_its_tools(self) -> None:
        found = classify_io(AGENT, PALETTE)
        assert found.inputs == (FlowInput("chat", "chat"),)
        assert found.outputs == (FlowOutput("out", "chat", "message"),)
        assert found.tools == (("calc", "boss"),)
        assert found.is_chat

    def test_goes_by_the_wiring_not_by_names(self) -> None:
        made = flow(
            node("chat_input", "URL"), node("chat_output", "Regex"), edges="chat_input.text -> chat_output.text"
        )
        found = classify_io(made, PALETTE)
        assert found.inputs == ()
        assert found.outputs == (FlowOutput("chat_output", "data", "matches"),)

    def test_lists_the_fields_a_form_input_reads(self) -> None:
        made = flow(
            node("all", "FormInput"), node("some", "FormInput", only=["namn"]), node("f", "FileInput", field="ritning")
        )
        found = classify_io(made.model_copy(update={"form": FORM}), PALETTE)
        assert found.inputs == (
            FlowInput("all", "form", ("namn", "ritning")),
            FlowInput("some", "form", ("namn",)),
            FlowInput("f", "files", ("ritning",)),
        )
        assert found.fields == FORM

    def test_sees_references_to_the_run_in_steps_and_what_is_attached(self) -> None:
        made = flow(
            node("a", "URL", url="{{flow_input.site}}"),
            node("llm", "LanguageModel", system="{{flow_input.text}}"),
            node("b", "Agent"),
            edges="a.text -> b.input\nllm.model -> b.model",
        )
        assert classify_io(made, PALETTE).inputs == (FlowInput("a", "form", ("site",)), FlowInput("b", "text"))

    def test_sees_a_policy_that_reads_the_run(self) -> None:
        made = flow(node("a", "Agent", StepPolicy(input_source=InputSource.FLOW_INPUT)))
        assert classify_io(made, PALETTE).inputs == (FlowInput("a", "text"),)

    def test_does_not_ask_for_what_is_set_or_connected(self) -> None:
        made = flow(
            node("t", "TextInput", text="fixed"), node("c", "ChatInput"), node("u", "URL"), edges="u.text -> c.text"
        )
        assert classify_io(made, PALETTE).inputs == ()

    def test_sees_files_of_a_chat(self) -> None:
        made = flow(node("c", "ChatInput"), node("s", "SelectData"), edges="c.files -> s.data")
        assert [one.kind for one in classify_io(made, PALETTE).inputs] == ["chat", "files"]

    @pytest.mark.parametrize(
        ("type_", "policy", "expected"),
        [
            ("URL", StepPolicy(), ["text"]),
            ("HTTPRequest", StepPolicy(), ["data"]),
            ("SaveFile", StepPolicy(), ["file"]),
            ("WebhookOut", StepPolicy(), ["webhook"]),
            ("AIStep", StepPolicy(output_type=OutputType.PDF), ["file"]),
            ("URL", StepPolicy(output_mode="http_post", output_config=HttpCall(url="https://x")), ["webhook", "text"]),
            ("Note", StepPolicy(), []),
        ],
    )
    def test_names_what_comes_out(self, type_: str, policy: StepPolicy, expected: list[str]) -> None:
        found = classify_io(flow(node("a", type_, policy)), PALETTE)
        assert [one.kind for one in found.outputs] == expected

    def test_counts_only_the_last_steps_and_output_components(self) -> None:
        made = flow(
            node("u", "URL"), node("o", "ChatOutput"), node("r", "Regex"), edges="u.text -> o.input\no.text -> r.text"
        )
        assert [one.node for one in classify_io(made, PALETTE).outputs] == ["o", "r"]

    def test_is_json(self) -> None:
        assert classify_io(AGENT, PALETTE).as_json()["tools"] == [{"tool": "calc", "agent": "boss"}]

    @SOME
    @given(flows())
    def test_never_fails(self, made: Flow) -> None:
        classify_io(made, PALETTE).as_json()
