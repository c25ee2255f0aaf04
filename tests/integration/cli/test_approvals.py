"""Approvals from the command line: which run waits, and decisions on several at once."""

import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.flows import service, versions
from headgate.features.flows.transfer import import_flow
from tests.support.cli import answered

FLOW = """name: Letters
nodes:
  heard: ChatInput
  check: Approval
    question: Send it?
  said: ChatOutput
edges:
  heard.text -> check.value
  check.approve -> said.input
"""
NOBODY = "0198f6c4-0000-7000-8000-000000000000"


async def _wait_for_approval(parts: Parts) -> str:
    definition = import_flow(FLOW, parts.registry)
    async with parts.database.writing() as session:
        flow = await service.create_flow(session, acting(), parts.registry, definition=definition)
    outcome = await parts.runs.run_draft(
        acting(), flow.id, text="Dear Eva", form={}, file_ids=(), on_event=lambda *_: None, until_waiting=True
    )
    assert (outcome.status, outcome.outputs) == ("waiting", {})
    return outcome.run_id


class TestApprovals:
    def test_are_decided_together_and_each_has_its_outcome(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "200")
        run_ids = [with_parts(_wait_for_approval) for _ in range(2)]
        assert run(["runs", "show", run_ids[0]]) == exit_codes.OK
        shown = capsys.readouterr().out
        assert "waits for approval" in shown
        assert f"headgate approvals list --run {run_ids[0]}" in shown
        (line,) = answered(capsys, "approvals", "list", "--run", run_ids[0])
        ids = [item["id"] for item in answered(capsys, "approvals", "list")]
        assert line["id"] in ids
        assert len(ids) == 2
        link = answered(capsys, "approvals", "link", ids[0], "--recipient", "eva@customer.example")
        assert "/review#token=" in link["url"]
        assert run(["approvals", "reject", ids[0], NOBODY, ids[1], "--comment", "Not now"]) == exit_codes.FAILED
        outcomes = capsys.readouterr().out
        assert outcomes.count("rejected") == 2
        assert "Approval not found" in outcomes
        decided = answered(capsys, "approvals", "list", "--status", "decided")
        assert {item["status"] for item in decided} == {"rejected"}

    def test_that_are_decided_are_not_waited_for_by_a_paused_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "200")
        run_id = with_parts(_wait_for_approval)
        assert run(["runs", "pause", run_id]) == exit_codes.OK
        (line,) = answered(capsys, "approvals", "list", "--run", run_id)
        assert run(["approvals", "approve", line["id"]]) == exit_codes.OK
        capsys.readouterr()
        assert run(["runs", "show", run_id]) == exit_codes.OK
        shown = capsys.readouterr().out
        assert "what it waited for has happened; it continues with the run" in shown
        assert "Waiting for approval" not in shown


EACH = """name: Each
nodes:
  heard: ChatInput
  each: ForEach
    flow: {flow}
    parallel: 2
  said: ChatOutput
edges:
  heard.text -> each.items
  each.text -> said.input
"""


async def _wait_for_each(parts: Parts) -> str:
    async with parts.database.writing() as session:
        one = await service.create_flow(session, acting(), parts.registry, definition=import_flow(FLOW, parts.registry))
        await versions.publish_flow(session, acting(), parts.rules, one.id, notes="")
        each = import_flow(EACH.replace("{flow}", one.id), parts.registry)
        flow = await service.create_flow(session, acting(), parts.registry, definition=each)
    outcome = await parts.runs.run_draft(
        acting(), flow.id, text="a\nb\nc", form={}, file_ids=(), on_event=lambda *_: None, until_waiting=True
    )
    return outcome.run_id


class TestStartedRuns:
    def test_are_counted_with_the_number_that_a_step_starts_in_all(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "250")
        run_id = with_parts(_wait_for_each)
        assert run(["runs", "show", run_id]) == exit_codes.OK
        assert "waits for the runs that it started: 0 of 3 completed, 2 active" in capsys.readouterr().out


class TestRun:
    def test_returns_when_the_run_waits_and_names_what_continues_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "200")
        file = tmp_path / "letters.flow"
        file.write_text(FLOW)
        assert run(["run", str(file), "--text", "Dear Eva"]) == exit_codes.WAITING
        shown = capsys.readouterr().out
        assert "It waits for approval: headgate approvals list" in shown
        assert run(["run", str(file), "--text", "Dear Eva", "--json"]) == exit_codes.WAITING
        outcome = json.loads(capsys.readouterr().out)
        assert (outcome["status"], outcome["waits_for"]) == ("waiting", "approval")
        assert outcome["waiting_run_id"] == outcome["run_id"]
