"""`headgate runs resume`, `headgate runs rerun` and `headgate maintenance`, as a terminal calls them."""

from dataclasses import fields
from pathlib import Path

import pytest

from headgate.entrypoints.cli import maintenance
from headgate.entrypoints.cli.app import run
from headgate.features.maintenance.outcome import Outcome
from tests.support.cli import answered


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def failed(capsys: pytest.CaptureFixture[str], data_folder: Path) -> str:
    """A run whose second step found no data to parse."""
    (data_folder / "parse.flow").write_text(
        "name: Parse\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  said: ChatOutput\n"
        "edges:\n  heard.text -> parse.text\n  parse.data -> said.input\n"
    )
    outcome = answered(capsys, "run", "parse.flow", "--text", "not json", code=1)
    found: str = outcome["run_id"]
    return found


class TestResume:
    def test_goes_on_at_the_failed_step_and_tells_how_it_ended(
        self, capsys: pytest.CaptureFixture[str], failed: str
    ) -> None:
        found = answered(capsys, "runs", "resume", failed, code=1)
        assert (found["how"], found["from_step"], found["run"]["id"]) == ("in_place", "parse", failed)
        assert found["run"]["resumes"] == 1
        assert run(["runs", "resume", failed]) == 1
        assert "continues at step 'parse'" in capsys.readouterr().out

    def test_is_refused_for_a_cancelled_run(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        (data_folder / "echo.flow").write_text(
            "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"
        )
        outcome = answered(capsys, "run", "echo.flow", "--text", "x")
        problem = answered(capsys, "runs", "resume", outcome["run_id"], code=6)
        assert problem["code"] == "run_not_resumable"
        assert f"headgate runs rerun {outcome['run_id']}" in problem["remedy"]


class TestBreakpoints:
    def test_a_stopped_run_says_how_it_continues_and_continues_once(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        (data_folder / "echo.flow").write_text(
            "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"
        )
        assert run(["run", "echo.flow", "--text", "x", "--step-through"]) == 8
        shown = " ".join(capsys.readouterr().out.split())
        assert "waits for its user, at a breakpoint" in shown
        assert "--then breakpoints, next or end" in shown
        outcome = answered(capsys, "run", "echo.flow", "--text", "x", "--stop-before", "said", code=8)
        assert outcome["waits_for"] == "breakpoint"
        run_id = outcome["run_id"]
        assert run(["runs", "show", run_id]) == 0
        assert f"headgate runs continue {run_id} --then" in capsys.readouterr().out
        continued = answered(capsys, "runs", "continue", run_id, "--then", "next")
        assert (continued["changed"], continued["steps"]) == (True, ["said"])
        assert answered(capsys, "runs", "continue", run_id, "--then", "end", code=6)["changed"] is False
        problem = answered(capsys, "run", "echo.flow", "--stop-before", "nobody", code=3)
        assert "'nobody'" in problem["detail"]


class TestRerun:
    def test_shows_the_plan_first_and_then_takes_over_what_holds(
        self, capsys: pytest.CaptureFixture[str], failed: str
    ) -> None:
        plan = answered(capsys, "runs", "rerun", failed, "--text", '{"a": 1}', "--dry-run")
        assert [step["why"] for step in plan["steps"]] == ["input", "follows", "follows"]
        found = answered(capsys, "runs", "rerun", failed, "--text", '{"a": 1}')
        assert (found["run"]["status"], found["run"]["source_run_id"]) == ("completed", failed)
        again = answered(capsys, "runs", "rerun", found["run"]["id"], "--from", "said")
        assert [step["reuse"] for step in again["plan"]["steps"]] == [True, True, False]
        assert run(["runs", "rerun", found["run"]["id"], "--from", "said"]) == 0
        told = capsys.readouterr().out
        assert "reused" in told
        assert "took 0 tokens for $0.0000" in " ".join(told.split())

    @pytest.mark.parametrize("wrong", [("--version", "newest"), ("--form", "topic")])
    def test_refuses_what_it_cannot_read(
        self, capsys: pytest.CaptureFixture[str], failed: str, wrong: tuple[str, str]
    ) -> None:
        answered(capsys, "runs", "rerun", failed, *wrong, code=3)


class TestMaintenance:
    def test_counts_and_deletes(
        self, capsys: pytest.CaptureFixture[str], failed: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = answered(capsys, "maintenance", "run", "--dry-run")
        assert set(found["jobs"]) == {
            *("retention", "orphan_sweep", "audit_heads", "idempotency_keys", "codev_sessions", "sent_events"),
            *(
                "trash",
                "trigger_occurrences",
                "form_uploads",
                "knowledge_documents",
                "knowledge_vectors",
                "alerts",
                "statistics",
            ),
        }
        assert answered(capsys, "maintenance", "run", "orphan_sweep")["jobs"]["orphan_sweep"]["artifacts"] == 0
        assert {job["name"] for job in answered(capsys, "maintenance", "status")} == set(found["jobs"])
        assert answered(capsys, "maintenance", "run", "vacuum", code=4)["code"] == "job_not_found"
        capsys.readouterr()
        assert run(["maintenance", "run"]) == run(["maintenance", "status"]) == 0
        assert "nothing" in capsys.readouterr().out

    def test_names_everything_that_was_deleted(self) -> None:
        members = {member.name for member in fields(Outcome)} - {"tenants"}
        for member in members:
            outcome = Outcome()
            setattr(outcome, member, 3)
            assert maintenance.describe_outcome(outcome.as_json()).startswith("3 "), member
