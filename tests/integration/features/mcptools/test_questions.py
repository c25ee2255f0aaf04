"""A server asks the user something during a call of its tool: users of the studio answer in the inbox."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.features.mcptools.questions import form_of
from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import HttpSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import decide, ended
from tests.integration.features.runs.approvals.test_tool_calls import pending
from tests.support.mcp_server import McpProcess
from tests.support.team import Team, team

FLOW = """name: Table
nodes:
  city: ChatInput
  book: McpCall
    server: tables
    tool_name: book
    arguments: {"city": "{{city.text}}"}
  out: ChatOutput
edges:
  book.data -> out.input
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"])) as people:
        yield people


@pytest.fixture(params=["asking", "legacy-asking"])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[McpProcess]:
    """Asks in the answer of the call (2026-07-28), or by a request of its own (before)."""
    with McpProcess(tmp_path / "tally", request.param) as process:
        yield process


async def asked(us: Team, tables: McpProcess) -> tuple[str, dict[str, Any]]:
    """Return the run that waits, and what it asks."""
    await us.make("admin", "/mcp-servers", name="tables", url=tables.url)
    assert (await us.ask("admin", "POST", "/mcp-servers/tables/refresh")).is_success
    flow = await us.make("editor", "/flows", spec=FLOW)
    run = await us.make("editor", f"/flows/{flow['id']}/runs", text="Lund", version="draft")
    [approval] = await pending(us, run["id"])
    return run["id"], await us.get("owner", f"/approvals/{approval['id']}")


class TestQuestion:
    async def test_waits_in_the_inbox_and_its_answer_goes_to_the_server(self, us: Team, tables: McpProcess) -> None:
        run_id, approval = await asked(us, tables)
        assert approval["question"] == "The MCP server 'tables' asks: Details of the table in Lund?"
        assert approval["value"] == {"tool": "tables.book", "arguments": {"city": "Lund"}}
        guests, window, room = approval["questions"]
        assert (guests["label"], guests["type"], guests["min"], guests["max"]) == ("Guests", "number", 1, 8)
        assert (window["type"], room["options"]) == ("checkbox", ["north", "south"])
        answers = {guests["id"]: 4, window["id"]: True, room["id"]: "south"}
        assert await decide(us, "owner", approval, answers={**answers, guests["id"]: 9}) == 422
        assert await decide(us, "owner", approval, answers=answers) == 200
        run = await ended(us, run_id)
        assert (run["status"], run["text"]) == ("completed", "Lund: 4 guests, south")
        assert [line for line in tables.calls() if line.startswith("book")] == ["book Lund 4 True south"]
        package = (await us.ask("owner", "GET", f"/flow-runs/{run_id}/evidence")).content
        assert verify(package).good

    async def test_that_is_rejected_is_declined(self, us: Team, tables: McpProcess) -> None:
        run_id, approval = await asked(us, tables)
        assert await decide(us, "owner", approval, "reject") == 200
        assert (await ended(us, run_id))["text"] == "not booked: decline"


class TestForm:
    @pytest.mark.parametrize(
        "schema",
        [
            {},
            {"properties": []},
            {"properties": {"a": {"type": "object"}}},
            {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
            {"properties": {"a": {"type": ["string"]}}},
            {"properties": {"a": None}},
            {"properties": {"a": {"type": "number", "minimum": 5, "maximum": 1}}},
            {"properties": {"a": {"oneOf": [{"title": "no value"}]}}},
            {"properties": {str(number): {"type": "string"} for number in range(21)}},
        ],
    )
    def test_does_not_fit_every_schema(self, schema: dict[str, Any]) -> None:
        assert form_of(schema)[1] is None

    def test_has_the_choices_of_a_list_and_shows_no_hidden_characters(self) -> None:
        several = {"type": "array", "title": "To\u202ePpings", "items": {"enum": ["ham", "egg"]}}
        titled = {"type": "string", "oneOf": [{"const": "s", "title": "Small"}], "description": "Size"}
        names, fields = form_of({"properties": {"top pings": several, "size": titled}, "required": ["size"]})
        assert fields is not None
        assert [(field.label, field.type, field.options, field.required) for field in fields] == [
            ("ToPpings", "multiselect", ("ham", "egg"), False),
            ("size: Size", "select", ("s",), True),
        ]
        assert list(names.values()) == ["top pings", "size"]
