import contextlib
import json
import time

import pytest
from hypothesis import given
from pydantic import JsonValue

from headgate.graph.layout import arrange
from headgate.graph.model import Flow, Node, StepPolicy
from headgate.graph.spec import SpecError, parse_spec, print_spec, read_spec
from tests.support.properties import cases
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import flows, json_values, texts
from tests.unit.graph.wires import edge, flow, node

PAGE = """\
name: Page summary
description: Fetch a page and summarise it
nodes:
  page: URL
    url: https://example.org
  brief: AIStep
    prompt: |
      Summarise in three lines:
      {{page.text}}
    output_type: text
  out: ChatOutput
edges:
  page.text -> brief.input
  brief.output -> out.input
"""


def params_of(lines: str) -> dict[str, JsonValue]:
    """The params of a node written with these lines."""
    indented = "\n".join("    " + line for line in lines.splitlines())
    return parse_spec(f"nodes:\n  a: A\n{indented}\n").nodes[0].params


def faults(text: str, *, checked: bool = True) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read_spec(text, PALETTE) if checked else parse_spec(text)
    return caught.value.lines()


class TestRoundTrip:
    @cases(120)
    @given(flows())
    def test_gives_any_flow_back_freshly_laid_out(self, original: Flow) -> None:
        assert parse_spec(print_spec(original)) == arrange(original)

    @cases(40)
    @given(flows())
    def test_prints_what_it_read_as_the_same_text(self, original: Flow) -> None:
        text = print_spec(original)
        assert print_spec(parse_spec(text)) == text

    @cases(300)
    @given(json_values)
    def test_keeps_the_type_of_every_value(self, value: JsonValue) -> None:
        found = parse_spec(print_spec(flow(Node(id="a", type="A", params={"x": value})))).nodes[0].params["x"]
        assert json.dumps(found) == json.dumps(value)

    @cases(200)
    @given(texts)
    def test_reads_any_text_without_other_errors(self, text: str) -> None:
        try:
            parse_spec("nodes:\n  a: A\n    x: " + text)
        except SpecError as error:
            found = error.issues
        else:
            return
        assert all(issue.line for issue in found)

    def test_prints_the_example_of_the_design_as_it_is(self) -> None:
        assert print_spec(read_spec(PAGE, PALETTE)) == PAGE

    def test_keeps_params_called_like_a_nodes_own_members(self) -> None:
        original = flow(
            Node(id="a", type="A", params={"label": "x", "code": "y", "policy": "z", "params": {"params": 1}})
        )
        assert parse_spec(print_spec(original)).nodes[0].params == original.nodes[0].params


class TestPlainValues:
    @pytest.mark.parametrize("word", ["1.10", "007", "-0", "1e5", "0x10", "1_000", "TRUE", "yes", "~", "1" * 30, "٣"])
    def test_stay_text_when_json_would_print_them_otherwise(self, word: str) -> None:
        assert params_of(f"x: {word}") == {"x": word}

    @pytest.mark.parametrize(
        ("word", "value"), [("0.5", 0.5), ("-7", -7), ("true", True), ("null", None), ("1.0", 1.0)]
    )
    def test_are_values_when_written_as_json_prints_them(self, word: str, value: JsonValue) -> None:
        found = params_of(f"x: {word}")["x"]
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize("text", ["1.10", "007", "true", "", "null", "0.5", "[1]", "|", "'x'", "''"])
    def test_are_quoted_when_they_are_text_that_reads_otherwise(self, text: str) -> None:
        assert parse_spec(print_spec(flow(node("a", "A", x=text)))).nodes[0].params["x"] == text

    @pytest.mark.parametrize("text", ["https://a.b/#c", "C # sharp", "a: b", "{name} says", "{{a.output}}", "[INST] x"])
    def test_keep_hashes_colons_and_braces(self, text: str) -> None:
        assert params_of(f"x: {text}") == {"x": text}

    @pytest.mark.parametrize(
        ("word", "text"),
        [
            ("'[{\"a\": 1}]'", '[{"a": 1}]'),
            ("'3'", "3"),
            ("'it''s'", "it's"),
            ("''", ""),
            ("'a' || 'b'", "'a' || 'b'"),
            ("'tis", "'tis"),
        ],
    )
    def test_wholly_in_single_quotes_are_the_text_between_them(self, word: str, text: str) -> None:
        assert params_of(f"x: {word}") == {"x": text}

    def test_refuse_json_that_is_broken(self) -> None:
        (fault,) = faults('nodes:\n  a: A\n    x: {"b": 1,}\n', checked=False)
        assert fault.startswith("line 3: 'x': the value looks like JSON but is not")

    def test_refuse_a_quote_that_does_not_close(self) -> None:
        (fault,) = faults('nodes:\n  a: A\n    x: "b\n', checked=False)
        assert "line 3" in fault
        assert "JSON quotes" in fault


class TestBlocks:
    def test_lose_their_common_indentation_and_final_break(self) -> None:
        assert params_of("x: |\n    one\n\n      two\n\ny: 1") == {"x": "one\n\n  two", "y": 1}

    def test_keep_every_break_after_a_plus(self) -> None:
        assert params_of("x: |+\n  one\n\ny: 1") == {"x": "one\n\n", "y": 1}

    def test_may_begin_with_spaces_after_a_digit(self) -> None:
        assert params_of("x: |2\n    one\n   two") == {"x": "  one\n two"}

    def test_hold_lines_that_look_like_anything(self) -> None:
        assert params_of("x: |\n  # no comment\n  a: b\n  - c\ny: 1") == {"x": "# no comment\na: b\n- c", "y": 1}

    def test_stand_in_lists(self) -> None:
        assert params_of("x:\n  - |\n    one\n    two\n  - three") == {"x": ["one\ntwo", "three"]}


class TestNestedValues:
    def test_are_objects_and_lists(self) -> None:
        found = params_of("x:\n  Content-Type: text/html\n  deep:\n    - 1\n    - a: 2\n      b: 3\n  none:\n")
        assert found == {"x": {"Content-Type": "text/html", "deep": [1, {"a": 2, "b": 3}], "none": ""}}

    def test_may_be_json_over_several_lines(self) -> None:
        found = params_of('x: {\n  "a": [\n1, "}"],\n"b": 2\n}\ny: [\n  3\n]\nz:\n  - {\n  "c": 4 }')
        assert found == {"x": {"a": [1, "}"], "b": 2}, "y": [3], "z": [{"c": 4}]}

    def test_are_printed_when_a_line_would_be_long(self) -> None:
        value: JsonValue = {"first": "x" * 60, "second": [{"y": "z" * 60, "w": "v" * 60}, "a: b"]}
        text = print_spec(flow(node("a", "A", x=value)))
        assert max(len(line) for line in text.splitlines()) < 80
        assert parse_spec(text).nodes[0].params["x"] == value


class TestComments:
    def test_count_on_lines_of_their_own_and_behind_structure(self) -> None:
        text = PAGE.replace("nodes:", "# first\nnodes:  # steps").replace("page: URL", "page: URL # fetch")
        assert print_spec(parse_spec(text.replace("-> out.input", "-> out.input  # last"))) == PAGE


class TestLineEnds:
    def test_of_windows_and_a_byte_order_mark_do_not_matter(self) -> None:
        assert print_spec(parse_spec("\ufeff" + PAGE.replace("\n", "\r\n"))) == PAGE


class TestPolicies:
    def test_take_words_as_text_where_only_text_can_stand(self) -> None:
        text = (
            'nodes:\n  a: A\n    policy:\n      input_config:\n        url: https://x\n        body: {"a": 1}\n'
            "        headers:\n          X-Id: 7\n      input_bindings:\n        n: 5\n"
        )  # fmt: skip
        policy = parse_spec(text).nodes[0].policy
        assert policy.input_config is not None
        assert policy.input_config.headers == {"X-Id": "7"}
        assert policy.input_config.body == '{"a": 1}'
        assert policy.input_bindings == {"n": "5"}

    def test_are_written_only_where_they_differ(self) -> None:
        text = print_spec(flow(node("a", "A", StepPolicy(output_classification_override=0))))
        assert "policy:\n      output_classification_override: 0\n" in text


class TestParseSpec:
    def test_tells_several_faults_each_with_line_and_remedy(self) -> None:
        text = (
            "nodes:\n  Page 1: URL\n  y:URL\n  q: AIStep\n    policy:\n      input_source: htp_get\nedges:\n  a -> b\n"
        )
        assert faults(text, checked=False) == [
            "line 2: expected 'id: Type', got 'Page 1: URL'. A name must not contain spaces: page_1: URL",
            "line 3: expected 'id: Type', got 'y:URL'. Put a space after the colon: y: URL",
            (
                "line 6: 'input_source' cannot be 'htp_get'; did you mean 'http_get'? Choose one of: flow_input, "
                "previous_step, all_previous_steps, http_get, http_post."
            ),
            (
                "line 8: expected 'node.output -> node.input', got 'a -> b'. Name both ports, for example "
                "page.text -> brief.input."
            ),
        ]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", "line 1: the spec is empty"),
            ("hello", "line 1: expected 'section:'"),
            ("edge:\n", "did you mean 'edges'?"),
            ("nodes:\n  a: A\n  a: B\n", "line 3: 'a' appears twice, first in line 2"),
            ("nodes:\n  a: A\n    x: 1\n    x: 2\n", "line 4: 'x' appears twice, first in line 3"),
            ("nodes:\n  a: A\n    x: one\n      two\n", "line 4: unexpected lines below 'x'"),
            ("nodes:\n\ta: A\n", "line 2: the line is indented with a tab"),
            ("nodes:\n    a: A\n  b: B\n", "line 3: the line is indented by 2"),
            ("nodes:\n  a:\n", "line 2: node 'a' needs a component type"),
            ("nodes:\n  a: lower\n", "not 'lower'"),
            ("nodes:\n  - a: A\n", "without a dash"),
            ("nodes:\n  a: A\n    Bad: 1\n", "'Bad' is not a valid field name. Write 'bad'"),
            ("nodes:\n  a: A\n    policy:\n      tool: x\n", "line 4: unknown name 'tool'; did you mean"),
            ("nodes:\n  a: A\n    policy:\n      input_config:\n        body: x\n", "line 4: 'url' is missing"),
            ("edges: a.b -> c.d\n", "no text is allowed after 'edges:'"),
            ("form:\n  x: txt\n", "line 2: 'type' cannot be 'txt'; did you mean 'text'?"),
            ("form:\n  x: select\n", "line 2: form field 'x': options belong to types 'select'"),
            ("settings:\n  data_retention_days: 0\n", "line 2: 'data_retention_days'"),
            ("nodes:\n  a: A\n    x: \x07\n", "line 3: the line contains the control character U+0007"),
            ("nodes:\n  a: A\n    x: {\n      y: 1\n", "line 3: the JSON that starts here has no end"),
            ("x" * 1_048_577, "the limit is 1,048,576"),
            ("\n" * 100_001, "the limit is 100,000"),
            ("\n".join(" " * n + "a:" for n in range(60)), "nested deeper than"),
            ("nodes:\n  a: A\n    x: " + "[" * 5000 + "]" * 5000, "nested deeper than"),
        ],
    )
    def test_says_what_is_wrong_and_where(self, text: str, expected: str) -> None:
        assert any(expected in fault for fault in faults(text, checked=False))

    def test_stops_after_twenty_faults(self) -> None:
        assert len(faults("nodes:\n" + "  ?\n" * 500, checked=False)) == 20

    @pytest.mark.parametrize(
        "text",
        [
            "nodes:\n" + "".join(f"  n{number}: A\n" for number in range(20_000)),
            "nodes:\n  a: A\n    x: |\n" + "\n" * 90_000 + "      end\n",
            "nodes:\n  a: A\n    x: " + "a" * 1_000_000,
            "nodes:\n  a: A\n    x: " + "{{" * 500_000,
            "nodes:\n  a: A\n    x: " + '"' + "\\" * 1_000_000,
            "nodes:\n  a: A\n    x: [" + '"' * 1_000_000,
            "nodes:\n" + "  a: A\n" * 50_000,
            "a" * 1_000_000,
            "nodes:\n  a: A\n    x:\n" + "      - 1\n" * 90_000,
            "edges:\n" + "  a.b -> c.d\n" * 70_000,
            "nodes:\n  a: A\n" + "    x: {\n" * 90_000,
        ],
    )
    def test_takes_linear_time_whatever_it_is_given(self, text: str) -> None:
        started = time.process_time()
        with contextlib.suppress(SpecError):
            parse_spec(text)
        assert time.process_time() - started < 10


class TestReadSpec:
    def test_names_the_line_and_nearest_name_of_every_fault(self) -> None:
        text = (
            PAGE.replace("page: URL", "page: Url")
            .replace("out: Chat", "out: Chatt")
            .replace("output_type", "outputtype")
        )
        assert faults(text) == [
            (
                "line 4: node 'page': there is no component 'Url'; did you mean 'URL'? "
                "Use 'URL', or search the components."
            ),
            (
                "line 10: node 'brief' (AIStep) has no field 'outputtype'; did you mean 'output_type'? "
                "Fields: prompt, model, input, output_type. Set 'output_type' instead."
            ),
            (
                "line 11: node 'out': there is no component 'ChattOutput'; did you mean 'ChatOutput'? "
                "Use 'ChatOutput', or search the components."
            ),
        ]

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ("page.text ->", "page.txt ->", "line 13: node 'page' (URL) has no output 'txt'; did you mean 'text'?"),
            (
                "brief.input",
                "brief.inputs",
                "line 13: node 'brief' (AIStep) has no input 'inputs'; did you mean 'input'?",
            ),
            ("-> brief", "-> breif", "line 13: edge page.text -> breif.input: there is no node 'breif'; did you mean"),
            ("output_type: text", "output_type: txt", "line 10: field 'output_type' of node 'brief'"),
            ("-> out.input", "-> page.url", "the steps form a cycle: page -> brief -> page"),
        ],
    )
    def test_names_the_line_of(self, old: str, new: str, expected: str) -> None:
        assert any(expected in fault for fault in faults(PAGE.replace(old, new)))

    def test_names_the_converter_that_a_type_clash_needs(self) -> None:
        text = "nodes:\n  f: FileInput\n  c: CombineText\nedges:\n  f.file -> c.parts\n"
        assert faults(text) == [
            (
                "line 5: edge f.file -> c.parts: 'file' has type File, but input 'parts' of node 'c' "
                "(CombineText) takes Text. Put a ReadFile node between 'f' and 'c'."
            )
        ]

    def test_refuses_orphans_with_their_line(self) -> None:
        (fault,) = faults(PAGE.replace("edges:", "  lone: CurrentDate\nedges:"))
        assert fault.startswith("line 12: node 'lone' (CurrentDate) is not connected to anything.")

    def test_lets_notes_and_a_single_node_stand_alone(self) -> None:
        assert len(read_spec("nodes:\n  a: CurrentDate\n  n: Note\n    text: hi\n", PALETTE).nodes) == 2

    def test_names_the_line_inside_a_policy(self) -> None:
        text = PAGE.replace(
            "    output_type: text", "    policy:\n      input_bindings:\n        prompt: '{{nope.output}}'"
        )
        assert any(fault.startswith("line 12: binding 'prompt'") for fault in faults(text))

    def test_names_the_second_place_of_an_edge_that_occurs_twice(self) -> None:
        (fault,) = faults(PAGE + "  brief.output -> out.input\n")
        assert fault.startswith("line 15: the edge brief.output -> out.input occurs twice")


class TestPrintSpec:
    def test_prints_an_empty_flow(self) -> None:
        assert print_spec(Flow()) == "name: Untitled flow\n"

    def test_escapes_what_an_editor_would_not_show(self) -> None:
        assert 'x: "a\\u202eb"' in print_spec(flow(node("a", "A", x="a\u202eb")))

    def test_quotes_a_value_that_a_reader_would_take_for_a_comment(self) -> None:
        assert 'x: "# a"' in print_spec(flow(node("a", "A", x="# a")))

    def test_keeps_edge_order(self) -> None:
        edges = [edge("a.x -> b.y"), edge("b.x -> a.y"), edge("a.x -> b.y")]
        text = print_spec(Flow(edges=tuple(edges)))
        assert [line.strip() for line in text.splitlines()[2:]] == [one.id for one in edges]
