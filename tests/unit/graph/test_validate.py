import pytest
from hypothesis import given
from pydantic import JsonValue

from headgate.graph.issues import IssueCode
from headgate.graph.model import Flow, FormField, HttpCall, InputType, OutputType, StepPolicy
from headgate.graph.validate import check_draft, check_kept, check_runnable
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs
from tests.unit.graph.test_wiring import AGENT
from tests.unit.graph.wires import flow, node

URL = "https://example.org"


def draft(made: Flow) -> list[str]:
    return [f"{issue} {issue.remedy}".strip() for issue in check_draft(made, PALETTE)]


def runnable(made: Flow) -> list[str]:
    return [f"{issue} {issue.remedy}".strip() for issue in check_runnable(made, PALETTE)]


def with_policy(**members: object) -> StepPolicy:
    return StepPolicy.model_validate(members)


class TestCheckDraft:
    @pytest.mark.parametrize(
        ("made", "expected"),
        [
            (
                flow(node("a", "Url")),
                "node 'a': there is no component 'Url'; did you mean 'URL'? Use 'URL', or search the components.",
            ),
            (
                flow(node("brief", "AIStep"), node("p", "URL"), edges="p.text -> brief.inputs"),
                (
                    "node 'brief' (AIStep) has no input 'inputs'; did you mean 'input'? Inputs: model, input."
                    " Connect the edge to one of the inputs of 'brief'."
                ),
            ),
            (
                flow(node("b", "AIStep"), node("p", "URL"), edges="p.txt -> b.input"),
                (
                    "node 'p' (URL) has no output 'txt'; did you mean 'text'? Outputs: text, title, links, "
                    "tool. Start the edge at one of the outputs of 'p'."
                ),
            ),
            (
                flow(node("b", "AIStep"), node("p", "URL"), edges="p.text -> b.prompt"),
                (
                    "field 'prompt' of node 'b' (AIStep) cannot be connected. Inputs: model, input. Set "
                    "'prompt' as a value; {{p.text}} in it inserts the output."
                ),
            ),
            (
                flow(node("f", "FileInput"), node("c", "CombineText"), edges="f.file -> c.parts"),
                (
                    "edge f.file -> c.parts: 'file' has type File, but input 'parts' of node 'c' "
                    "(CombineText) takes Text. Put a ReadFile node between 'f' and 'c'."
                ),
            ),
            (
                flow(node("t", "TextInput"), node("q", "TableQuery"), edges="t.text -> q.table"),
                (
                    "edge t.text -> q.table: 'text' has type Text, but input 'table' of node 'q' (TableQuery)"
                    " takes Table. Put a ParseJSON node between 't' and 'q'."
                ),
            ),
            (
                flow(node("m", "LanguageModel"), node("o", "ChatOutput"), edges="m.model -> o.input"),
                (
                    "edge m.model -> o.input: 'model' has type Model, but input 'input' of node 'o' (ChatOutput) "
                    "takes Text, Message. Outputs of type Model can only be connected to inputs of type Model."
                ),
            ),
            (
                flow(node("c", "Calculator"), node("a", "Agent"), edges="c.tool -> a.input"),
                (
                    "edge c.tool -> a.input: 'tool' has type Tool, but input 'input' of node 'a' (Agent) "
                    "takes Text, Message. Outputs of type Tool can only be connected to inputs of type Tool."
                ),
            ),
            (
                flow(node("o", "ChatOutput"), node("a", "Agent"), edges="o.tool -> a.tools"),
                (
                    "node 'o' (ChatOutput) has no output 'tool'. Outputs: message, text. Start the edge at one of"
                    " the outputs of 'o'."
                ),
            ),
            (
                flow(node("a", "URL"), node("b", "URL"), edges="a.text -> c.url"),
                "edge a.text -> c.url: there is no node 'c'. Nodes: a, b.",
            ),
            (
                flow(node("a", "CombineText"), edges="a.text -> a.parts"),
                "edge a.text -> a.parts: a node cannot feed itself. Remove the edge, or put a step between.",
            ),
            (
                flow(
                    node("a", "CombineText"),
                    node("b", "CombineText"),
                    node("c", "CombineText"),
                    edges="a.text -> b.parts\nb.text -> c.parts\nc.text -> a.parts",
                ),
                (
                    "the steps form a cycle: a -> b -> c -> a. Remove one of its edges, for example c.text ->"
                    " a.parts. To repeat work over a list use a Map node."
                ),
            ),
            (
                flow(
                    node("a", "URL"),
                    node("b", "URL"),
                    node("o", "ChatOutput"),
                    edges="a.text -> o.input\nb.text -> o.input",
                ),
                (
                    "input 'input' of node 'o' (ChatOutput) takes one edge and already has a.text -> "
                    "o.input. Remove one of the "
                    "two, or join them with a Merge or CombineText node before 'o'."
                ),
            ),
            (
                flow(node("a", "URL"), node("o", "CombineText"), edges="a.text -> o.parts\na.text -> o.parts"),
                "the edge a.text -> o.parts occurs twice. Remove one.",
            ),
            (flow(node("a", "URL"), node("a", "URL")), "2 nodes have the id 'a'. Give each node its own id."),
            (flow(node("flow_input", "URL")), "no node can have the id 'flow_input'"),
            (flow(node("constructor", "URL")), "no node can have the id 'constructor'"),
            (
                flow(node("a", "URL", adress="x")),
                "node 'a' (URL) has no field 'adress'. Fields: url. Remove 'adress'.",
            ),
            (
                flow(node("a", "Regex", patern="x")),
                (
                    "node 'a' (Regex) has no field 'patern'; did you mean 'pattern'? Fields: text, pattern, mode. "
                    "Set 'pattern' instead."
                ),
            ),
            (
                flow(node("a", "Regex", mode="finde")),
                (
                    "field 'mode' of node 'a' (Regex) cannot be 'finde'; did you mean 'find'? "
                    "Options: find, extract, replace, test. Choose one of the options."
                ),
            ),
            (flow(node("a", "Regex", mode=5)), "field 'mode' of node 'a' (Regex) cannot be 5."),
            (
                flow(node("a", "SplitText", size="many")),
                "field 'size' of node 'a' (SplitText) takes a whole number, not",
            ),
            (flow(node("a", "SplitText", size=1.5)), "takes a whole number, not 1.5"),
            (flow(node("a", "Switch", cases="[bug, idea]")), 'takes JSON such as ["a", "b"]'),
            (flow(node("a", "Wait", seconds=True)), "takes a number, not True"),
            (
                flow(node("a", "AIStep", model="gpt")),
                "takes a model as provider/name, with up to 5 different fallback models",
            ),
        ],
    )
    def test_says_what_a_save_refuses(self, made: Flow, expected: str) -> None:
        assert any(expected in one for one in draft(made)), draft(made)

    @pytest.mark.parametrize("value", ["{{a.output}}", "", None, "test"])
    def test_lets_templates_and_unset_values_pass(self, value: JsonValue) -> None:
        assert draft(flow(node("a", "Regex", mode=value))) == []

    @pytest.mark.parametrize("value", [5, "5", 5.0, "5.0"])
    def test_takes_numbers_however_they_are_written(self, value: JsonValue) -> None:
        assert draft(flow(node("a", "SplitText", size=value))) == []

    def test_allows_missing_values_and_loose_ends(self) -> None:
        assert draft(flow(node("a", "AIStep"), node("b", "ChatOutput"))) == []

    def test_passes_a_sound_agent(self) -> None:
        assert draft(AGENT) == []

    def test_reads_ports_that_depend_on_params(self) -> None:
        made = flow(node("s", "Switch", cases=["bug"]), node("o", "ChatOutput"), edges="s.bug -> o.input")
        assert draft(made) == []
        made = flow(node("p", "PromptTemplate", template="{topic}"), node("u", "URL"), edges="u.text -> p.topic")
        assert draft(made) == []

    def test_tells_a_long_cycle_short(self) -> None:
        names = [f"n{number}" for number in range(30)]
        made = flow(
            *(node(name, "CombineText") for name in names),
            edges="\n".join(f"{a}.text -> {b}.parts" for a, b in zip(names, names[1:] + names[:1], strict=True)),
        )
        (issue,) = check_draft(made, PALETTE)
        assert issue.code is IssueCode.CYCLE
        assert len(issue.message) < 150

    def test_refuses_attachments_that_multiply(self) -> None:
        agents = [node(f"a{number}", "Agent") for number in range(12)]
        lines = [f"a{number}.tool -> a{number + 1}.tools" for number in range(11)]
        made = flow(*agents, edges="\n".join(lines * 2))
        tools = _ToolAgents()
        codes = {issue.code for issue in check_draft(made, tools)}
        assert IssueCode.TOO_MANY_ATTACHMENTS in codes

    @SOME
    @given(flows())
    def test_never_fails(self, made: Flow) -> None:
        check_runnable(made, PALETTE)

    @SOME
    @given(graphs())
    def test_passes_every_sound_graph(self, made: Flow) -> None:
        assert draft(made) == []


class _ToolAgents:
    """The palette with agents that are tools themselves."""

    def types(self) -> list[str]:
        return list(PALETTE.types())

    def template(self, type_, params=None):  # type: ignore[no-untyped-def]
        found = PALETTE.template(type_, params) or PALETTE.templates["Note"]
        fields = tuple(field.model_copy(update={"tool_mode": field.name == "input"}) for field in found.fields)
        return found.model_copy(update={"fields": fields})

    def code(self, type_: str) -> str | None:
        return None


class TestStepPolicies:
    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            ({"input_source": "all_previous_steps"}, "is a first step, so it cannot read previous steps"),
            (
                {"input_source": "http_get"},
                "reads from a URL (input_source http_get), but input_config has none",
            ),
            (
                {"input_source": "http_post"},
                "reads from a URL (input_source http_post), but input_config has none",
            ),
            (
                {"output_mode": "http_post"},
                "sends its output to a URL (output_mode http_post), but output_config has none",
            ),
            (
                {"output_contract": {"type": "txt"}},
                "output_contract of node 'a' (AIStep): $.type: there is no contract type",
            ),
            ({"input_contract": {"minimum": 1, "type": "object"}}, "keyword 'minimum' is not supported"),
            ({"input_bindings": {"promt": "x"}}, "binds 'promt', but has no such field; did you mean 'prompt'?"),
            ({"input_bindings": {"prompt": "{{bb.output}}"}}, "refers to 'bb', and there is no such step"),
            ({"input_bindings": {"prompt": "{{step_9.output}}"}}, "refers to 'step_9', and there is no such step"),
            ({"input_bindings": {"prompt": "{{a.output}}"}}, "refers to 'a', which does not run before 'a'"),
        ],
    )
    def test_refuse_nonsense(self, policy: dict[str, JsonValue], expected: str) -> None:
        made = flow(node("a", "AIStep", with_policy(**policy), prompt="p", model="a/b"))
        assert any(expected in one for one in draft(made)), draft(made)

    def test_are_kept_half_done_in_a_draft_that_somebody_is_working_on(self) -> None:
        for policy in (
            {"input_source": "http_post"},
            {"output_mode": "http_post"},
            {"input_source": "all_previous_steps"},
            {"output_type": "pdf"},
            {"input_bindings": {"prompt": "{{gone.output}}"}},
        ):
            made = flow(node("a", "AIStep", with_policy(**policy), prompt="p", model="a/b"), node("c", "CurrentDate"))
            assert check_kept(made, PALETTE) == []
        contract = with_policy(output_contract={"type": "txt"})
        assert check_kept(flow(node("a", "AIStep", contract)), PALETTE) != []

    def test_let_a_step_behind_another_read_all_previous(self) -> None:
        policy = with_policy(input_source="all_previous_steps")
        assert draft(flow(node("u", "URL"), node("a", "AIStep", policy), edges="u.text -> a.input")) == []

    def test_let_previous_step_stand_on_a_first_step_that_needs_no_input(self) -> None:
        assert runnable(flow(node("a", "AIStep", prompt="p", model="a/b"))) == []

    def test_allow_bindings_to_earlier_steps_by_id_and_alias_and_to_the_run(self) -> None:
        policy = with_policy(input_bindings={"prompt": "{{u.title}} {{step_1.output}} {{flow_input.x}} {{other}}"})
        assert draft(flow(node("u", "URL"), node("a", "AIStep", policy), edges="u.text -> a.input")) == []

    def test_refuse_a_source_for_a_component_without_input(self) -> None:
        policy = with_policy(input_source="http_get", input_config={"url": URL})
        (found,) = draft(flow(node("d", "CurrentDate", policy)))
        assert "reads from outside (input_source http_get), but has no input to fill" in found
        assert draft(flow(node("c", "ChatInput", with_policy(input_source="flow_input")))) == []
        (found,) = draft(flow(node("d", "CurrentDate", with_policy(input_source="flow_input"))))
        assert "reads from outside (input_source flow_input), but has no input to fill" in found

    def test_refuse_code_that_nothing_would_run(self) -> None:
        for type_ in ("Calculator", "Python"):
            made = flow(node("a", type_).model_copy(update={"code": "def run(inputs): ..."}))
            assert any("has custom code, but an installed component has the same name" in one for one in draft(made))

    def test_refuse_a_binding_to_an_output_that_is_not_there(self) -> None:
        for text, said in (
            ("{{u.titel}}", "an output 'titel' that 'u' (URL) does not have; did you mean 'title'?"),
            ("{{step_1.tool}}", "an output 'tool' that 'u' (URL) does not have"),
        ):
            policy = with_policy(input_bindings={"prompt": text})
            (found,) = draft(flow(node("u", "URL"), node("a", "AIStep", policy), edges="u.text -> a.input"))
            assert said in found
        for text in ("{{u.title}}", "{{u.output}}", "{{u.file_ids}}", "{{u.links.0.url}}", "{{u}}"):
            policy = with_policy(input_bindings={"prompt": text})
            assert draft(flow(node("u", "URL"), node("a", "AIStep", policy), edges="u.text -> a.input")) == []

    def test_refuse_a_reference_that_the_contract_rules_out(self) -> None:
        closed: JsonValue = {
            "type": "object",
            "additionalProperties": False,
            "properties": {"items": {"type": "array", "items": {"type": "object", "properties": {}}}},
        }
        for text, missing in (
            ("{{u.output.x}}", "x"),
            ("{{u.text.name.first}}", "name"),
            ("{{u.output.items.0.y}}", ""),
        ):
            gives = with_policy(output_contract=closed)
            takes = with_policy(input_bindings={"prompt": text})
            found = draft(flow(node("u", "URL", gives), node("a", "AIStep", takes), edges="u.text -> a.input"))
            assert [f"'{missing}', which the output contract of 'u' does not allow" in one for one in found] == (
                [True] if missing else []
            )

    def test_are_not_blamed_for_a_cycle(self) -> None:
        policy = with_policy(input_bindings={"title": "{{a.text}}"})
        made = flow(
            node("a", "CombineText"), node("b", "CombineText", policy), edges="a.text -> b.parts\nb.text -> a.parts"
        )
        assert [issue.code for issue in check_draft(made, PALETTE)] == [IssueCode.CYCLE]

    def test_are_ignored_on_configuration(self) -> None:
        policy = with_policy(input_source="all_previous_steps")
        nodes = tuple(one.model_copy(update={"policy": policy}) if one.id == "llm" else one for one in AGENT.nodes)
        assert draft(AGENT.model_copy(update={"nodes": nodes})) == []


class TestCheckRunnable:
    def test_passes_a_whole_flow(self) -> None:
        made = flow(
            node("page", "URL", url=URL),
            node("brief", "AIStep", prompt="Sum up {{page.text}} {{step_1.title}} {{flow_input.text}}", model="a/b"),
            node("out", "ChatOutput"),
            edges="page.text -> brief.input\nbrief.output -> out.input",
        )
        assert runnable(made) == []

    @pytest.mark.parametrize(
        ("made", "expected"),
        [
            (Flow(), "the flow has no steps."),
            (flow(node("n", "Note")), "the flow has no steps."),
            (
                flow(node("a", "AIStep", prompt="p")),
                (
                    "node 'a' (AIStep) requires 'model', which is empty. Set 'model' to a model, written "
                    "provider/name, or connect a Model output to it."
                ),
            ),
            (
                flow(node("a", "Calculator")),
                "node 'a' (Calculator) requires 'expression', which is empty. Set 'expression'.",
            ),
            (
                flow(node("a", "Calculator", expression="")),
                "node 'a' (Calculator) requires 'expression', which is empty. Set 'expression'.",
            ),
            (
                flow(node("o", "ChatOutput")),
                "requires 'input', which is empty. Set 'input' or connect an output of type Text, Message to it.",
            ),
            (
                flow(node("a", "CurrentDate"), node("b", "CurrentDate")),
                "node 'a' (CurrentDate) is not connected to anything. Connect 'a' to another node, or remove it.",
            ),
            (
                flow(
                    node("t", "TextInput"),
                    node("calc", "Calculator", expression="1"),
                    node("u", "URL", url=URL),
                    node("boss", "Agent", model="a/b"),
                    edges="t.text -> boss.input\nt.text -> u.url\nu.tool -> boss.tools\ncalc.tool -> boss.tools",
                ),
                "edge t.text -> u.url connects data to node 'u' (URL), which only configures 'boss' and is not a step",
            ),
            (
                flow(
                    node("a", "URL", url=URL),
                    node("b", "CombineText", title="{{c.output}}"),
                    node("c", "CombineText"),
                    edges="a.text -> b.parts\nb.text -> c.parts",
                ),
                (
                    "'title' of node 'b' (CombineText): {{c.output}} refers to 'c', which does not run before 'b'. "
                    "Connect 'c' to 'b', directly or through other steps."
                ),
            ),
            (
                flow(node("page", "URL", url="{{paje.output}}")),
                (
                    "'url' of node 'page' (URL): {{paje.output}} refers to 'paje', and there is no such "
                    "step; did you mean "
                    "'page'? Steps: page."
                ),
            ),
        ],
    )
    def test_says_what_keeps_a_flow_from_running(self, made: Flow, expected: str) -> None:
        assert any(expected in one for one in runnable(made)), runnable(made)

    @pytest.mark.parametrize("text", ["{{user.name}}", "{{#if x}}", "{{x}}", "{{items.0}}", "{{ a | b }}"])
    def test_lets_braces_that_are_no_step_stand(self, text: str) -> None:
        assert runnable(flow(node("a", "URL", url=text))) == []

    def test_lets_configuration_refer_to_what_runs_before_its_step(self) -> None:
        def made(prompt: str) -> Flow:
            return flow(
                node("t", "TextInput"),
                node("llm", "LanguageModel", model="a/b", system=prompt),
                node("boss", "Agent"),
                node("out", "ChatOutput"),
                edges="t.text -> boss.input\nllm.model -> boss.model\nboss.response -> out.input",
            )

        assert runnable(made("{{t.text}}")) == []
        assert "does not run before 'boss'" in runnable(made("{{out.text}}"))[0]
        assert "refers to 'llm', which is not a step" in runnable(made("{{llm.output}}"))[0]

    def test_does_not_ask_a_tool_for_what_the_agent_fills(self) -> None:
        made = flow(
            node("t", "TextInput"),
            node("calc", "Calculator"),
            node("boss", "Agent", model="a/b"),
            edges="t.text -> boss.input\ncalc.tool -> boss.tools",
        )
        assert runnable(made) == []

    @pytest.mark.parametrize(
        "policy",
        [
            with_policy(input_source="flow_input"),
            with_policy(input_source="http_get", input_config={"url": URL}),
            with_policy(input_bindings={"input": "{{flow_input.text}}"}),
        ],
    )
    def test_counts_what_a_policy_brings_as_given(self, policy: StepPolicy) -> None:
        assert runnable(flow(node("a", "Agent", policy, model="a/b"))) == []

    def test_does_not_scan_fields_that_are_not_interpolated(self) -> None:
        assert runnable(flow(node("p", "Python", inputs="1", source="'{{nope.output}}'"))) == []

    def test_lets_a_delivery_read_its_own_step(self) -> None:
        config = HttpCall(url=URL, body='{"x": "{{a.output}}"}')
        policy = StepPolicy(output_mode="http_post", output_config=config)
        assert runnable(flow(node("a", "URL", policy, url=URL))) == []

    def test_knows_the_forms_fields(self) -> None:
        made = flow(node("a", "URL", url="{{flow_input.nam}}"))
        assert "refers to a form field 'nam', and the flow has no form" in runnable(made)[0]
        assert runnable(flow(node("a", "URL", url="{{flow_input.text}}"))) == []
        with_form = made.model_copy(update={"form": (FormField(id="namn"),)})
        assert "'nam' that the flow does not have; did you mean 'namn'?" in runnable(with_form)[0]

    @pytest.mark.parametrize("part", ["{{a.output.who}}", " {{ step_1.text.who }} "])
    def test_compares_contracts_where_a_binding_brings_a_part(self, part: str) -> None:
        who: JsonValue = {"type": "object", "properties": {"name": {"type": "string"}}}
        gives = with_policy(output_contract={"type": "object", "properties": {"who": who}})
        takes = with_policy(
            input_bindings={"input": part}, input_contract={"type": "object", "required": ["name", "age"]}
        )
        made = flow(
            node("a", "URL", gives, url=URL),
            node("b", "AIStep", takes, prompt="p", model="a/b"),
            edges="a.text -> b.input",
        )
        found = [one for one in check_runnable(made, PALETTE) if one.code is IssueCode.INCOMPATIBLE]
        assert [one.field for one in found] == ["input_bindings.input"] * 2
        assert "does not satisfy the input contract of 'b': $.name: is required, but not promised" in found[0].message

    @pytest.mark.parametrize("source", ["flow_input", "all_previous_steps"])
    def test_compares_no_contract_over_an_edge_whose_value_the_policy_replaces(self, source: str) -> None:
        gives = with_policy(output_contract={"type": "text", "max_length": 10})
        takes = with_policy(input_source=source, input_contract={"type": "text", "max_length": 5})
        made = flow(
            node("a", "URL", gives, url=URL),
            node("b", "AIStep", takes, prompt="p", model="a/b"),
            edges="a.text -> b.input",
        )
        assert runnable(made) == []

    def test_compares_contracts_where_one_main_port_feeds_the_next(self) -> None:
        gives = StepPolicy(output_type=OutputType.JSON, output_contract={"type": "object"})
        takes = StepPolicy(input_contract={"type": "object", "required": ["name"]})
        made = flow(
            node("a", "AIStep", gives, prompt="p", model="a/b"),
            node("b", "AIStep", takes, prompt="p", model="a/b"),
            edges="a.output -> b.input",
        )
        assert runnable(made) == [
            (
                "the output contract of 'a' does not satisfy the input contract of 'b': $.name: is required, but not "
                "promised. Change one of the two contracts."
            )
        ]

    @pytest.mark.parametrize("reference", ["{{a.output}}", "{{a.data}}"])
    def test_compares_contracts_of_a_binding_to_any_output_that_they_cover(self, reference: str) -> None:
        gives = StepPolicy(output_type=OutputType.JSON, output_contract={"type": "object"})
        takes = StepPolicy(input_bindings={"input": reference}, input_contract={"type": "object", "required": ["name"]})
        made = flow(
            node("a", "AIStep", gives, prompt="p", model="a/b"), node("b", "AIStep", takes, prompt="p", model="a/b")
        )
        assert [f"{reference}, as defined by its step's output contract" in one for one in runnable(made)] == [True]

    def test_says_nothing_of_data_that_is_not_the_answer(self) -> None:
        gives = StepPolicy(output_type=OutputType.JSON, output_contract={"type": "object"})
        takes = StepPolicy(input_contract={"type": "object", "required": ["name"]})
        made = flow(
            node("a", "URL", gives, url=URL),
            node("b", "AIStep", takes, prompt="p", model="a/b"),
            edges="a.links -> b.input",
        )
        assert runnable(made) == []

    @pytest.mark.parametrize(
        ("wanted", "edge", "ok"),
        [
            (InputType.TEXT, "u.text -> b.input", True),
            (InputType.JSON, "u.text -> b.input", False),
            (InputType.JSON, "u.links -> b.input", True),
            (InputType.IMAGE, "u.text -> b.input", False),
            (InputType.ANY, "u.text -> b.input", True),
        ],
    )
    def test_compares_input_types(self, wanted: InputType, edge: str, ok: bool) -> None:
        made = flow(
            node("u", "URL", url=URL),
            node("b", "AIStep", StepPolicy(input_type=wanted), prompt="p", model="a/b"),
            edges=edge,
        )
        assert (runnable(made) == []) is ok
