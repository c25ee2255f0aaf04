"""Hostile documents in the whole product: the step fails and says why, and the server answers meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from headgate.foundation.settings import Settings
from headgate.sandbox import limits
from tests.integration.components.test_isolated import WORD, word
from tests.support.team import Team, team

READS = (
    "name: Reads\nnodes:\n  given: FileInput\n  read: ReadFile\n  said: ChatOutput\nedges:\n"
    "  given.file -> read.file\n  read.text -> said.input\n"
)
RUNS = 8


@pytest.fixture
async def us(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    short = replace(limits.ISOLATED_LIMITS, processor_seconds=0.5)
    monkeypatch.setattr(limits, "ISOLATED_LIMITS", short)
    async with team(settings) as found:
        yield found


async def test_leave_the_server_free(us: Team) -> None:
    flow = (await us.make("editor", "/flows", spec=READS))["id"]
    content = word("<w:p/>" * 200_000)
    uploaded = await us.ask("editor", "POST", "/files", files={"file": ("a.docx", content, WORD)})
    body = {"file_ids": [uploaded.json()["id"]], "wait": True}

    async def run() -> Any:
        return (await us.ask("editor", "POST", f"/flows/{flow}/runs", json=body)).json()

    runs = [asyncio.create_task(run()) for _ in range(RUNS)]
    answered = 0
    while not all(one.done() for one in runs):
        assert (await us.ask("editor", "GET", "/flows")).status_code == 200
        answered += 1
    assert answered > RUNS
    for one in runs:
        ended = one.result()
        assert (ended["status"], ended["error"]["code"]) == ("failed", "unreadable_document")
        assert "'a.docx' was stopped: it used more than 0.5 s of processor time" in ended["error"]["message"]
        steps = (await us.get("editor", f"/flow-runs/{ended['id']}"))["steps"]
        assert [step["attempts"] for step in steps if step["step_id"] == "read"] == [1]
