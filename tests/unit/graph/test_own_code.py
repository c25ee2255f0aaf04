"""Own components in a flow: which code belongs to which node, and what a catalog has to know of it."""

import textwrap
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from headgate.graph.issues import FlowInvalid, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.own_code import own_codes
from headgate.graph.plan import compile_plan
from headgate.graph.ports import PortType
from headgate.graph.spec import SpecError, print_spec, read_spec
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate, Template
from headgate.graph.validate import check_draft, check_runnable
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.wires import flow

CODE = "class Reverse(Component):\n    ...\n"
REVERSE = Template(
    type="Reverse",
    label="Reverse",
    description="",
    category="other",
    fields=(FieldTemplate(name="text", kind=FieldKind.TEXT, required=True, types=(PortType.TEXT,)),),
    outputs=(OutputTemplate(name="reversed_text", type=PortType.TEXT),),
)
SPEC = """name: Backwards
nodes:
  input: ChatInput
  back: Reverse
  out: ChatOutput
edges:
  input.text -> back.text
  back.reversed_text -> out.input
"""


class Catalog:
    """The palette with own components whose code was checked."""

    def __init__(self, **codes: str) -> None:
        self.codes = codes

    def types(self) -> list[str]:
        return sorted([*PALETTE.types(), *self.codes])

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        return REVERSE if type_ in self.codes else PALETTE.template(type_, params)

    def code(self, type_: str) -> str | None:
        return self.codes.get(type_)


CHECKED = Catalog(Reverse=CODE)


def own(node_id: str, code: str | None = CODE, type_: str = "Reverse") -> Node:
    return Node(id=node_id, type=type_, code=code, params={"text": "abc"})


def found(made: Flow, catalog: Catalog = CHECKED) -> list[str]:
    return [f"{one.node}: {one.message}" for one in check_draft(made, catalog)]


class TestCheckDraft:
    def test_passes_code_that_was_checked(self) -> None:
        made = flow(own("a"), own("b"))
        assert found(made) == []
        assert own_codes(made) == (CODE,)

    def test_lets_code_wait_for_its_check(self) -> None:
        assert found(flow(own("a", "class Other: ...", "Other"))) == []

    @pytest.mark.parametrize(
        ("made", "expected"),
        [
            (flow(own("a"), own("b", CODE + "# changed")), "b: node 'b' (Reverse) has different code than 'a'"),
            (
                flow(own("a", type_="Backwards")),
                ("a: node 'a' (Backwards) contains the code of a component named Reverse."),
            ),
            (flow(own("a", None)), "a: node 'a' (Reverse) has no code"),
            (flow(own("a", type_="URL")), "has custom code, but an installed component has the same name"),
        ],
    )
    def test_refuses_code_that_does_not_belong_to_its_node(self, made: Flow, expected: str) -> None:
        assert any(expected in one for one in found(made)), found(made)


class TestCheckRunnable:
    def test_asks_for_a_check_once_a_type(self) -> None:
        changed = CODE + "# changed"
        issues = check_runnable(flow(own("a", changed), own("b", changed)), CHECKED)
        asked = [one for one in issues if one.code is IssueCode.UNCHECKED_CODE]
        assert [one.node for one in asked] == ["a"]
        assert "components/check" in asked[0].remedy

    def test_says_so_of_a_type_that_nobody_knows(self) -> None:
        issues = check_runnable(flow(own("a", "class Other: ...", "Other")), CHECKED)
        assert [one.code for one in issues] == [IssueCode.UNCHECKED_CODE]


class TestCompilePlan:
    def test_refuses_what_has_not_been_checked(self) -> None:
        with pytest.raises(FlowInvalid, match="has code that has not been checked on this installation"):
            compile_plan(flow(own("a", "class Other: ...", "Other")), CHECKED)


class TestReadSpec:
    def test_takes_code_that_the_text_leaves_out_from_the_catalog(self) -> None:
        read = read_spec(SPEC, CHECKED)
        assert [node.code for node in read.nodes] == [None, CODE, None]

    def test_takes_it_from_another_node_of_the_text_first(self) -> None:
        changed = CODE + "# changed"
        first = "  first: Reverse\n    code: |\n" + textwrap.indent(changed, " " * 6) + "\n"
        text = SPEC.replace("nodes:\n", "nodes:\n" + first) + "  input.text -> first.text\n"
        read = read_spec(text, CHECKED)
        assert {node.code for node in read.nodes if node.type == "Reverse"} == {changed}

    def test_prints_the_code_so_that_the_text_is_whole(self) -> None:
        read = read_spec(SPEC, CHECKED)
        assert read_spec(print_spec(read), Catalog()) == read

    def test_tells_faults_of_code_with_the_line_it_stands_in(self) -> None:
        text = SPEC.replace("back: Reverse\n", "back: URL\n    code: |\n      x = 1\n")
        with pytest.raises(SpecError) as caught:
            read_spec(text, CHECKED)
        assert (4, "code") in [(one.line - 1, one.field) for one in caught.value.issues]
