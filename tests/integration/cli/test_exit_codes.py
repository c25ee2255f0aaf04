"""No command ends with 0 when it did not do what was asked: each is given something that cannot be done."""

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer

from headgate.entrypoints.cli.app import root, run
from headgate.entrypoints.cli.exit_codes import CONFLICT, FAILED, INVALID, NOT_FOUND, PARTLY
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]
NOBODY = "01900000-0000-7000-8000-000000000000"
FAULTY = (
    "name: Faulty\nnodes:\n  ask: ChatInput\n  brief: AIStep\n    prompt: Sum up.\nedges:\n  ask.text -> brief.input\n"
)
FAILING = """name: Failing
nodes:
  ask: TextInput
    text: no json
  read: ParseJSON
  out: ChatOutput
edges:
  ask.text -> read.text
  read.data -> out.input
"""
WAITING = """name: Waiting
settings:
  run_deadline_seconds: 3600
nodes:
  ask: TextInput
  wait: Wait
    seconds: 86400
edges:
  ask.text -> wait.value
"""
READS = frozenset(
    {
        "alerts rules", "alerts list", "alerts notices", "slo list",
        "approvals list", "attention list", "events list", "knowledge list", "events waiting",
        "codev list", "codev patterns", "codev instances list",
        "flows list", "flows trash list", "triggers list", "deliveries list",
        "runs list",
        "evidence key", "evidence keys", "audit list", "audit export", "audit head", "maintenance status",
        "templates list", "components search", "models providers", "models list", "models local", "models classes list",
        "models roles list", "models servers list", "keyring list", "processes list", "packs list", "packs signers",
        "queue list", "directory show", "directory groups",
        "connections list", "connections kinds",
        "mcp-servers list", "mcp-servers search", "users list", "spaces list", "tenants list", "quotas list",
        "keys list",
        "encryption status", "backup list", "backup prune", "variables list", "workspace list", "db upgrade",
        "db status", "version",
    }
)  # fmt: skip
"""They list what there is: an empty list is an answer."""
MAKES = frozenset({"keyring rotate", "encryption enable", "encryption disable"})
"""They need nothing that could be missing; its own tests have its exit codes."""
SERVERS = frozenset({"serve", "up", "worker", "beat", "mcp serve", "doctor"})
"""They run until they are stopped, or report on this machine; their own tests have their exit codes."""
UNDOABLE: dict[str, tuple[str, ...]] = {
    "backup create": ("--passphrase-file", "nowhere"),
    "backup verify": ("nowhere",),
    "restore": ("nowhere",),
    "ask": ("",),
    **{f"attention {what}": (NOBODY,) for what in ("assign", "cancel", "dismiss", "redeliver", "rerun", "resume")},
    "views save": ("runs", "Mine", "--filter", "no filter"),
    "views list": ("nowhere",),
    "views delete": (NOBODY,),
    "runs export": ("--view", "nothing"),
    "alerts add": ("Failures", "failure", "--flow", "nobody"),
    "slo add": ("Completes", "--flow", "nobody"),
    **{f"slo {what}": (NOBODY,) for what in ("show", "change", "remove")},
    "triggers statistics": (NOBODY,),
    **{f"alerts {what}": (NOBODY,) for what in ("mute", "remove", "test", "acknowledge", "redeliver")},
    "approvals show": (NOBODY,),
    "approvals approve": (NOBODY,),
    "approvals reject": (NOBODY,),
    "approvals link": (NOBODY, "--recipient", "eva@customer.example"),
    "events send": ("paid", "--data", "{"),
    "chat": ("nobody", "hello"),
    "knowledge create": ("a", "--passage-tokens", "1"),
    "knowledge add": ("nobody", "missing.txt"),
    "knowledge change": ("nobody", "missing.txt"),
    "knowledge status": ("nobody",),
    "knowledge fields": ("nobody",),
    "knowledge preview": ("nobody", "missing.txt"),
    "knowledge embed": ("nobody", "openai/small"),
    "knowledge retention": ("nobody", "30"),
    "knowledge rerank": ("nobody", "cohere/rerank"),
    "knowledge search": ("nobody", "x"),
    "knowledge verify": (NOBODY,),
    "knowledge delete": ("nobody",),
    "knowledge questions": ("nobody",),
    "knowledge sources": ("nobody",),
    "knowledge source": ("nobody", "Site", '{"kind": "web", "url": "https://example.org"}'),
    "knowledge sync": ("nobody", "Site"),
    "knowledge change-source": ("nobody", "Site"),
    "knowledge delete-source": ("nobody", "Site"),
    "knowledge evaluate": ("nobody",),
    "knowledge evaluations": ("nobody",),
    "knowledge propose": ("nobody", "openai/gpt-5-mini"),
    "triggers links list": (NOBODY,),
    "triggers links add": (NOBODY,),
    "triggers links revoke": (NOBODY, NOBODY),
    "codev start": ("a flow", "--model", "openai/gpt-5-mini"),
    "codev resume": (NOBODY, "--approve"),
    "codev show": (NOBODY,),
    "codev stop": (NOBODY,),
    "codev rollback": (NOBODY,),
    "codev summary": (NOBODY,),
    "codev evidence": (NOBODY,),
    "codev delete": (NOBODY,),
    "codev instances add": ("one", "ftp://x", "--key-variable", "NOTHING"),
    "codev instances remove": ("nobody",),
    "codev instances test": ("nobody",),
    "run": ("nobody",),
    "flows report": ("nobody",),
    "flows show": ("nobody",),
    "flows publish": ("nobody",),
    "flows set-owner": ("nobody", "me@example.org"),
    "flows favourite": ("nobody",),
    "flows move": ("nobody", "a folder"),
    "flows tag": ("nobody",),
    "flows trash restore": ("nobody",),
    "flows unpublish": ("nobody",),
    "flows state list": ("nobody",),
    "flows state show": ("nobody", "n"),
    "flows state set": ("nobody", "n", "1"),
    "flows state delete": ("nobody", "n"),
    "flows versions": ("nobody",),
    "flows diff": ("nobody", "1"),
    "flows restore": ("nobody", "1"),
    "flows undo": ("nobody",),
    "flows revisions": ("nobody",),
    "flows delete": ("nobody", "--yes"),
    "flows check-code": ("nobody",),
    "triggers add": ("nobody", "Nightly", "--cron", "0 7 * * *"),
    "triggers cancel-backfill": (NOBODY, NOBODY),
    "triggers pause": (NOBODY,),
    "triggers set-owner": (NOBODY, NOBODY),
    "triggers resume": (NOBODY,),
    "triggers remove": (NOBODY,),
    "triggers dry-run": (NOBODY,),
    "triggers fire": (NOBODY,),
    "triggers test": (NOBODY,),
    "triggers occurrences": (NOBODY,),
    "triggers next": (NOBODY,),
    "triggers backfill": (NOBODY, "2026-03-01", "2026-03-02"),
    "tests list": ("nobody",),
    "tests set": ("nobody", "missing.json"),
    "tests run": ("nobody",),
    "tests from-questions": ("nobody", "nobody"),
    "tests results": ("nobody",),
    "tests show": ("nobody",),
    "deliveries redeliver": (NOBODY,),
    "runs deliveries": (NOBODY,),
    "runs redeliver": (NOBODY,),
    "runs report": (NOBODY,),
    "runs show": (NOBODY,),
    "runs evidence": (NOBODY,),
    "runs text": (NOBODY,),
    "runs files": (NOBODY,),
    "runs download": (NOBODY,),
    "runs cancel": (NOBODY,),
    "runs pause": (NOBODY,),
    "runs continue": (NOBODY,),
    "runs resume": (NOBODY,),
    "runs rerun": (NOBODY,),
    "evidence verify": ("missing.json",),
    "audit verify": ("missing.json",),
    "maintenance run": ("nothing",),
    "validate": ("missing.flow",),
    "import": ("missing.flow",),
    "export": ("nobody",),
    "templates show": ("nothing",),
    "templates use": ("nothing",),
    "components check": ("missing.py",),
    "models pull": ("nothing",),
    "models use": ("missing.gguf", "name"),
    "models classes set": ("nothing", "0"),
    "models classes remove": ("openai/nothing",),
    "models describe": ("nothing",),
    "models reset": ("openai/nothing",),
    "models roles set": ("step", "nothing"),
    "models roles remove": ("step",),
    "models servers add": ("one", "ftp://x"),
    "models servers remove": ("nobody",),
    "models servers test": ("nobody",),
    "encryption destroy": ("--yes",),
    "restart": (),
    "processes drain": ("nothing",),
    "processes undrain": ("nothing",),
    "queue prioritize": ("nothing", "5"),
    "keyring retire": ("nothing",),
    "keyring revoke": ("nothing", "--reason", "lost"),
    "packs new": ("Nothing",),
    "packs key": ("nowhere/key",),
    "packs build": ("nowhere",),
    "packs test": ("nowhere",),
    "packs inspect": ("missing.hgpack",),
    "packs install": ("missing.hgpack",),
    "packs upgrade": ("missing.hgpack",),
    "packs remove": ("nothing",),
    "packs update": (NOBODY,),
    "packs trust": ("no key", "--name", "Acme"),
    "packs distrust": ("nothing",),
    "directory map": ("nobody", "nowhere", "viewer"),
    "directory unmap": ("nobody", "nowhere"),
    "directory token": ("--network", "nothing"),
    "directory disconnect": (),
    "connections add": ("one", "--kind", "nothing"),
    "connections show": ("nobody",),
    "connections change": ("nobody",),
    "connections test": ("nobody",),
    "connections authorize": ("nobody",),
    "connections delete": ("nobody",),
    "connections files": ("nobody",),
    "connections describe": ("nobody", "missing.json"),
    "connections operations": ("nobody",),
    "connections tables": ("nobody",),
    "connections accept": ("nobody",),
    "mcp-servers add": ("one", "ftp://x"),
    "mcp-servers show": ("nobody",),
    "mcp-servers tools": ("nobody",),
    "mcp-servers refresh": ("nobody",),
    "mcp-servers test": ("nobody",),
    "mcp-servers authorize": ("nobody",),
    "mcp-servers changes": ("nobody",),
    "mcp-servers accept": ("nobody",),
    "mcp-servers access": ("nobody",),
    "mcp-servers sampling": ("nobody",),
    "mcp-servers switch": ("nobody", "--on"),
    "mcp-servers remove": ("nobody",),
    "users create": ("no address",),
    "users create-service": ("an@address",),
    "users rename": ("nobody@example.org", "Bo"),
    "users reset": ("nobody@example.org",),
    "users deactivate": ("nobody@example.org",),
    "users activate": ("nobody@example.org",),
    "users delete": ("nobody@example.org", "--yes"),
    "users role": ("nobody@example.org", "admin"),
    "users sign-out": ("nobody@example.org",),
    "users reset-second-factor": ("nobody@example.org",),
    "users unlink": ("nobody@example.org",),
    "spaces create": ("",),
    "spaces rename": ("nowhere", "other"),
    "spaces delete": ("nowhere", "--yes"),
    "spaces members": ("nowhere",),
    "spaces add-member": ("nowhere", "me@example.org"),
    "spaces remove-member": ("nowhere", "me@example.org"),
    "tenants create": ("",),
    "tenants rename": ("nobody", "other"),
    "quotas set": ("organisation", "nothing", "1"),
    "keys create": ("",),
    "keys revoke": (NOBODY,),
    "variables set": ("not a name",),
    "variables delete": ("NOTHING",),
    "components register": ("missing.py",),
    "workspace read": ("missing.md",),
    "workspace write": ("../out.md", "missing.md"),
    "workspace remove": ("missing.md",),
}


def commands(group: Any = None, before: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command that can be called, with the groups that it is in."""
    group = typer.main.get_command(root) if group is None else group
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name))


class TestContract:
    def test_names_every_command(self) -> None:
        assert set(commands()) == READS | MAKES | SERVERS | UNDOABLE.keys()

    @pytest.mark.parametrize("command", UNDOABLE)
    def test_what_cannot_be_done_never_ends_with_0(
        self, command: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.setattr(sys, "stdin", StringIO("a value"))
        assert run([*command.split(), *UNDOABLE[command]]) != 0

    def test_an_import_with_faults_is_done_in_part(self, data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("faulty.flow").write_text(FAULTY)
        flow = answered(capsys, "import", "faulty.flow", code=PARTLY)
        assert flow["issues"]
        assert run(["validate", "faulty.flow"]) == INVALID
        assert run(["run", flow["id"]]) == INVALID
        assert run(["run", flow["id"], "--dry-run"]) == INVALID
        assert run(["flows", "publish", flow["id"]]) == INVALID

    def test_runs_and_tests_that_fail_say_so(self, data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("failing.flow").write_text(FAILING)
        Path("tests.json").write_text('[{"name": "one", "text": "x", "expect": {"contains": ["y"]}}]')
        flow = answered(capsys, "import", "failing.flow")
        outcome = answered(capsys, "run", flow["id"], code=FAILED)
        assert run(["runs", "resume", outcome["run_id"]]) == FAILED
        assert run(["runs", "rerun", outcome["run_id"]]) == FAILED
        assert run(["runs", "cancel", outcome["run_id"]]) == CONFLICT
        assert run(["runs", "pause", outcome["run_id"]]) == CONFLICT
        assert run(["runs", "continue", outcome["run_id"]]) == CONFLICT
        assert run(["tests", "run", flow["id"]]) != 0
        assert run(["tests", "set", flow["id"], "tests.json"]) == 0
        assert run(["tests", "run", flow["id"]]) == FAILED
        assert run(["flows", "restore", flow["id"], "7"]) == NOT_FOUND

    def test_a_trigger_that_starts_no_run_says_so(self, data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("failing.flow").write_text(FAILING)
        flow = answered(capsys, "import", "failing.flow")
        trigger = answered(capsys, "triggers", "add", flow["id"], "By hand")
        fired = answered(capsys, "triggers", "fire", trigger["id"], code=FAILED)
        assert fired["occurrence"]["status"] == "skipped"

    def test_a_run_that_waits_beyond_its_deadline_fails(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("waiting.flow").write_text(WAITING)
        outcome = answered(capsys, "run", "waiting.flow", "--text", "hi", "--deadline", "0.5", code=FAILED)
        assert "deadline of 0.5 seconds" in outcome["error"]
        assert run(["run", "waiting.flow", "--deadline", "0"]) == INVALID

    def test_what_is_not_confirmed_is_not_done(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("failing.flow").write_text(FAILING)
        answered(capsys, "import", "failing.flow")
        monkeypatch.setattr("rich.prompt.Confirm.ask", lambda *_args, **_options: False)
        assert run(["flows", "delete", "Failing"]) != 0
        assert run(["flows", "show", "Failing"]) == 0
