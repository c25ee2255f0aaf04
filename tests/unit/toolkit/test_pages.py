"""Long answers in pages: nothing is lost, nothing is cut inside a value, and the rest of the answer stays."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.codev.domain import DomainTool, Phase
from headgate.agents.codev.workflow.toolwork import _in_pages
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.pages import MOST_CHARACTERS, paged
from headgate.toolkit.registry import TOOLS
from tests.support.properties import cases

RUNS = [{"run_id": f"run-{number}", "text": "word " * (number % 40)} for number in range(900)]
TEXT = "".join(f"line {number} of a long report\n" for number in range(3000))
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text("abcd", max_size=3), inner, max_size=6),
    max_leaves=40,
)


def pages_of(answer: dict[str, Any], most: int = MOST_CHARACTERS) -> list[dict[str, Any]]:
    """Every page, from the first to the one without `next_offset`."""
    pages = [paged(answer, most=most)]
    while "next_offset" in pages[-1]:
        following: Any = pages[-1]["next_offset"]
        assert following > pages[-1]["offset"]
        pages.append(paged(answer, following, most=most))
    return pages


class TestPages:
    def test_a_short_answer_is_as_it_was(self) -> None:
        answer = {"ok": True, "runs": RUNS[:5]}
        assert paged(answer) == answer

    def test_a_list_is_paged_by_items_and_the_envelope_stays(self) -> None:
        pages = pages_of({"ok": True, "runs": RUNS, "hint": "newest first"})
        assert [run for page in pages for run in page["runs"]] == RUNS
        assert len(pages) > 2
        for page in pages:
            assert (page["ok"], page["hint"], page["page_of"], page["total"]) == (True, "newest first", "runs", 900)
            assert len(orjson.dumps(page)) <= MOST_CHARACTERS

    @pytest.mark.parametrize(
        ("answer", "text_of"),
        [
            ({"ok": True, "text": TEXT}, lambda page: page["text"]),
            ({"outputs": {"show": TEXT}, "ms": 3}, lambda page: page["outputs"]["show"]),
            ({"results": [{"id": 1, "text": TEXT}, {"id": 2}]}, lambda page: page["results"][0]["text"]),
        ],
    )
    def test_a_text_is_paged_by_lines_wherever_it_is(
        self, answer: dict[str, Any], text_of: Callable[[Any], str]
    ) -> None:
        pages = pages_of(answer)
        assert "".join(map(text_of, pages)) == TEXT
        assert all(text_of(page).endswith("\n") for page in pages)

    def test_an_object_of_many_members_is_paged_by_members(self) -> None:
        policies = {f"node_{number}": {"retries": number} for number in range(2000)}
        pages = pages_of({"ok": True, "policies": policies})
        assert {name: one for page in pages for name, one in page["policies"].items()} == policies

    def test_an_offset_behind_the_end_is_an_empty_page(self) -> None:
        page = paged({"runs": RUNS}, 5000)
        assert (page["runs"], page["total"], "next_offset" in page) == ([], 900, False)

    def test_a_refusal_is_whole_at_any_offset(self) -> None:
        refusal = {"ok": False, "error": "There is no such run.", "remedy": "list_runs names them."}
        assert paged(refusal, 12) == refusal

    @cases(60)
    @given(st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, max_size=5), st.integers(200, 600))
    def test_every_page_is_json_and_ends(self, answer: dict[str, Any], most: int) -> None:
        for page in pages_of(answer, most):
            assert page.keys() >= answer.keys()
            orjson.dumps(page)


class TestDoors:
    """The assistant, MCP clients and the development agent page with the same parameter."""

    def test_every_tool_that_reads_has_a_way_to_the_next_page(self) -> None:
        cursors = {"offset", "after", "before"}
        tools: list[Any] = [*TOOLS, *OPERATIONS.values()]
        for tool in tools:
            if tool.kind == "read":
                assert cursors & tool.schema["properties"].keys(), tool.name

    async def test_a_tool_of_the_development_agent_has_it_too(self) -> None:
        async def read(_arguments: dict[str, Any]) -> dict[str, Any]:
            return {"chatflows": RUNS * 2}

        schema: dict[str, Any] = {"type": "object", "properties": {}}
        tool = _in_pages(DomainTool("list_chatflows", "Lists.", schema, frozenset({Phase.DISCOVER}), read))
        assert "offset" in tool.schema["properties"]
        assert tool.read is not None
        first: Any = await tool.read({})
        second: Any = await tool.read({"offset": first["next_offset"]})
        assert second["chatflows"][0] == (RUNS * 2)[first["next_offset"]]
