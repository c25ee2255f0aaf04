"""The runs above and below a run, in the API, the evidence and the report of a run, on both databases."""

from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfReader

from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import Settings
from tests.support.team import Team, team

ITEM = """name: One item
nodes:
  heard: ChatInput
  rows: ParseJSON
  told: ChatOutput
edges:
  heard.message -> rows.text
  rows.data -> told.input
"""
ALL = """name: All items
nodes:
  heard: ChatInput
  each: ForEach
    flow: One item
    on_error: continue
  asked: Approval
    question: Send the rows?
    timeout_hours: 48
  told: ChatOutput
    policy:
      retry:
        max_attempts: 3
        delay_seconds: 4
      total_timeout_seconds: 90
      concurrency: {"key": "chat", "max": 2}
edges:
  heard.message -> each.items
  each.results -> asked.value
  asked.approve -> told.input
settings:
  run_deadline_seconds: 864000
  run_budget:
    usd: 2.5
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as client:
        yield client


async def started(us: Team) -> dict[str, Any]:
    """A run that waits for an approval after it ran another flow for three lines, of which one is no JSON."""
    item = await us.make("editor", "/flows", spec=ITEM)
    published = await us.ask("owner", "POST", f"/flows/{item['id']}/publish", json={})
    assert published.status_code < 300, published.text
    flow = await us.make("editor", "/flows", spec=ALL)
    answer = await us.ask(
        "editor", "POST", f"/flows/{flow['id']}/runs", json={"text": '{"a": 1}\nno\n{"b": 2}', "wait": True}
    )
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_are_linked_both_ways(us: Team) -> None:
    run = await started(us)
    relations = await us.get("viewer", f"/flow-runs/{run['id']}/relations")
    counts = {"step_id": "each", "total": 3, "started": 3, "completed": 2, "failed": 1, "cancelled": 0, "active": 0}
    assert relations == {"parent": None, "steps": [counts]}
    query = {"parent_run_id": run["id"], "parent_step_id": "each"}
    below = (await us.get("viewer", "/flow-runs", params=query))["items"]
    assert [one["parent_iteration"] for one in below] == [2, 1, 0]
    assert (await us.get("viewer", "/flow-runs", params={**query, "parent_step_id": "told"}))["items"] == []
    alone = await us.ask("viewer", "GET", "/flow-runs", params={"parent_step_id": "each"})
    assert (alone.status_code, alone.json()["remedy"]) == (422, "Give parent_run_id, too.")
    above = await us.get("viewer", f"/flow-runs/{below[1]['id']}/relations")
    assert above["parent"] == {"run_id": run["id"], "flow_id": run["flow_id"], "step_id": "each", "iteration": 1}
    assert (await us.ask("stranger", "GET", f"/flow-runs/{run['id']}/relations")).status_code == 404
    assert (await us.get("stranger", "/flow-runs", params=query))["items"] == []


async def test_are_in_the_evidence_with_the_decisions(us: Team) -> None:
    run = await started(us)
    answer = await us.ask("editor", "GET", f"/flow-runs/{run['id']}/evidence")
    package = answer.json()
    (each,) = [step for step in package["step_results"] if step["step_id"] == "each"]
    below = (await us.get("editor", "/flow-runs", params={"parent_run_id": run["id"]}))["items"]
    assert [one["run_id"] for one in each["started_runs"]] == [one["id"] for one in reversed(below)]
    assert [one["iteration"] for one in each["started_runs"]] == [0, 1, 2]
    assert verify(answer.content).faults == []


@pytest.mark.parametrize("language", ["en", "sv"])
async def test_are_in_the_report_with_decisions_policies_and_limits(us: Team, language: str) -> None:
    run = await started(us)
    (approval,) = (await us.get("owner", "/approvals"))["items"]
    decided = await us.ask(
        "owner",
        "POST",
        f"/approvals/{approval['id']}/decision",
        json={"decision": "approve", "content_hash": approval["content_hash"]},
    )
    assert decided.status_code == 200, decided.text
    report = await us.ask("editor", "GET", f"/flow-runs/{run['id']}/report", params={"language": language})
    assert report.status_code == 200, report.text
    text = " ".join(" ".join(page.extract_text() for page in PdfReader(BytesIO(report.content)).pages).split())
    below = (await us.get("editor", "/flow-runs", params={"parent_run_id": run["id"]}))["items"]
    for one in below:
        assert one["id"] in text
    assert approval["content_hash"] in text.replace(" ", "")
    for told in {
        "en": ("approve", "Runs that it started", "864000 seconds", "$2.5", "90 seconds", "at most 2 steps"),
        "sv": ("godkänn", "Körningar som det startade", "864000 sekunder", "$2.5", "90 sekunder", "högst 2 steg"),
    }[language]:
        assert told in text
    child = await us.ask("editor", "GET", f"/flow-runs/{below[0]['id']}/report")
    text = " ".join(" ".join(page.extract_text() for page in PdfReader(BytesIO(child.content)).pages).split())
    assert f"each of run {run['id']}, number 3" in text
