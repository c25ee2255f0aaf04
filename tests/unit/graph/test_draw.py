from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.graph.draw import cells, cut, draw
from headgate.graph.model import Flow
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs
from tests.unit.graph.test_plan import DIAMOND
from tests.unit.graph.test_wiring import AGENT
from tests.unit.graph.wires import chain, flow, node


def drawn(made: Flow) -> str:
    return "\n" + draw(made, PALETTE).partition("\n")[2] + "\n"


class TestDraw:
    def test_draws_a_chain_as_a_line(self) -> None:
        assert drawn(chain(3)) == dedent("""
            ○ n0  TextInput
            │
            ○ n1  CombineText
            │
            ○ n2  CombineText
        """)

    def test_draws_a_diamond(self) -> None:
        assert drawn(DIAMOND) == dedent("""
            ○   page  URL
            ├─╮
            ○ │ a     CombineText
            │ ○ b     CombineText
            ├─╯
            ○   join  CombineText
        """)

    def test_names_the_branch_a_step_hangs_on_and_its_model(self) -> None:
        made = flow(
            node("packages", "TextInput"),
            node("check", "If"),
            node("praise", "AIStep"),
            node("fix", "AIStep", model="openai/gpt-5-mini"),
            node("llm", "LanguageModel"),
            node("count", "Regex"),
            node("report", "CombineText"),
            edges="""
            packages.text -> check.value
            check.true -> praise.input
            check.false -> fix.input
            llm.model -> praise.model
            praise.output -> report.parts
            fix.output -> report.parts
            packages.text -> count.text
            count.text -> report.parts
            """,
        )
        assert drawn(made) == dedent("""
            ○     packages  TextInput
            ├─╮
            ○ │   check     If
            ├─│─╮
            ○ │ │ praise    AIStep      ← check.true [model: llm]
            │ │ ○ fix       AIStep      ← check.false [model: openai/gpt-5-mini]
            ├─│─╯
            │ ○   count     Regex
            ├─╯
            ○     report    CombineText
        """)

    def test_lists_attachments_and_notes(self) -> None:
        made = AGENT.model_copy(update={"nodes": (*AGENT.nodes[:-1], node("memo", "Note", text="Two\nlines"))})
        assert drawn(made) == dedent("""
            ○ chat  ChatInput
            │
            ○ boss  Agent      [model: llm, tools: calc]
            │
            ○ out   ChatOutput
            # Two lines
        """)

    def test_joins_lanes_from_both_sides_past_others(self) -> None:
        made = flow(
            *(node(name, "CombineText") for name in "abcde"),
            edges="a.text -> c.parts\na.text -> d.parts\nb.text -> e.parts\nc.text -> e.parts\nd.text -> e.parts",
        )
        assert drawn(made) == dedent("""
            ○     a  CombineText
            ├─╮
            │ │ ○ b  CombineText
            ○ │ │ c  CombineText
            ╰─│─┤
              ○ │ d  CombineText
              ╰─┤
                ○ e  CombineText
        """)

    def test_lists_what_is_too_wide_to_draw(self) -> None:
        names = [f"x{number}" for number in range(40)]
        edges = "\n".join(f"s.text -> {name}.parts\n{name}.text -> e.parts" for name in names)
        made = flow(
            node("s", "TextInput"),
            *(node(name, "CombineText") for name in names),
            node("e", "CombineText"),
            edges=edges,
        )
        text = draw(made, PALETTE)
        assert "  2. x0   CombineText ← s" in text
        assert max(map(len, text.splitlines())) <= 80

    def test_says_when_there_is_nothing_or_a_circle(self) -> None:
        assert draw(Flow()) == "Untitled flow\n(no steps)"
        made = flow(node("a", "CombineText"), node("b", "CombineText"), edges="a.text -> b.parts\nb.text -> a.parts")
        assert draw(made) == "Untitled flow\n↻ in a circle: a, b"

    @SOME
    @given(flows(), st.integers(10, 120))
    def test_never_fails_and_keeps_the_width(self, made: Flow, width: int) -> None:
        for line in draw(made, PALETTE, width=width).split("\n"):
            assert cells(line) <= width

    @SOME
    @given(graphs())
    def test_shows_every_step_once(self, made: Flow) -> None:
        text = draw(made, PALETTE)
        for one in made.nodes:
            if one.type == "CombineText":
                assert text.count(f" {one.id} ") == 1

    def test_draws_two_hundred_nodes(self) -> None:
        assert len(draw(chain(200)).splitlines()) == 201


class TestCut:
    @pytest.mark.parametrize(
        ("text", "width", "expected"),
        [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("名前です", 5, "名前…"), ("a\nb\x1b[31m", 20, "a b·[31m")],
    )
    def test_counts_cells_and_shows_no_control_characters(self, text: str, width: int, expected: str) -> None:
        assert cut(text, width) == expected
