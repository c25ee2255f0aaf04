"""The offline builder with a person's files, as with a model: real application, the same loop and events."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import Settings
from tests.integration.http.conftest import ECHO, app, client, created
from tests.support.databases import SqliteFiles, make_settings

__all__ = ["app", "client"]


@pytest.fixture
def settings(sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
    """Files are the same on every database."""
    sqlite_files.fresh(tmp_path)
    return make_settings(tmp_path)


async def asked(client: httpx2.AsyncClient, request: str, **more: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events of a turn, and the data of its `complete`."""
    body = {"input_value": request, "provider": "offline"} | more
    answer = await client.post("/api/v1/agentic/assist/stream", json=body)
    assert answer.status_code == 200, answer.text
    events = [json.loads(frame.split("data: ", 1)[1]) for frame in answer.text.split("\n\n") if frame]
    assert events[-1]["event"] == "complete", events[-1]
    return events, events[-1]["data"]


def written(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event.get("data", event) for event in events if event["event"] == "file_written"]


class TestFiles:
    async def test_are_written_searched_changed_and_read(self, client: httpx2.AsyncClient) -> None:
        events, data = await asked(client, "write a file NOTES.md saying 'the API key is in the safe'")
        assert [event["step"] for event in events if event["event"] == "progress"][:2] == [
            "understanding",
            "generating_document",
        ]
        assert (data["intent"], data["declined"], data["note"], data["flow"]) == ("manage_files", False, "", None)
        assert data["done"] == ["File NOTES.md written."]
        assert data["usage"]["total_tokens"] == 0
        (told,) = written(events)
        assert (told["path"], told["content"]) == ("NOTES.md", "the API key is in the safe")
        assert "- NOTES.md" in (await asked(client, "show my files"))[1]["result"]
        assert "NOTES.md, line 1" in (await asked(client, "hitta 'api key' i mina filer"))[1]["result"]
        _, changed = await asked(client, "byt ut safe mot drawer i NOTES.md")
        assert "Replaced 'safe' with 'drawer' in NOTES.md, 1 time." in changed["result"]
        assert "the API key is in the drawer" in (await asked(client, "read the file NOTES.md"))[1]["result"]

    async def test_document_the_flow(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, ECHO)
        request = "create a markdown file documenting this flow"
        events, data = await asked(client, request, flow_id=flow["id"])
        (told,) = written(events)
        assert told["path"] == "echo.md"
        assert "- `heard`: a chat message" in told["content"]
        assert "heard.text -> said.input" in told["content"]
        assert data["changes"] == []

    @pytest.mark.parametrize("path", ["../outside.md", "/etc/headgate.md", ".components/x.py"])
    async def test_outside_or_reserved_are_refused_in_plain_words(self, client: httpx2.AsyncClient, path: str) -> None:
        events, data = await asked(client, f"write a file {path} saying hello")
        assert written(events) == []
        assert (data["declined"], data["done"]) == (True, [])
        assert data["result"].startswith("That did not work: ")

    async def test_that_speak_of_running_run_nothing(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, ECHO)
        _, data = await asked(client, "write a file todo.md saying 'build the flow and run it'", flow_id=flow["id"])
        assert (data["runs"], "verification" in data) == ([], False)


class TestRefusals:
    async def test_nothing_is_taken_back_of_an_earlier_request(self, client: httpx2.AsyncClient) -> None:
        _, data = await asked(client, "undo that")
        assert (data["declined"], data["note"]) == (True, "")
        assert data["result"].startswith("That did not work: There is no change to undo. Undo reverts the last change")
        assert data["changes"] == []

    async def test_a_component_is_not_made_and_the_nearest_is_named(self, client: httpx2.AsyncClient) -> None:
        _, data = await asked(client, "create a component that splits text into parts")
        assert (data["intent"], data["declined"], data["changes"]) == ("generate_component", True, [])
        assert "- SplitText: " in data["result"]
        assert "headgate models providers" in data["result"]
