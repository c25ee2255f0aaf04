"""`headgate knowledge`, in this process."""

from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]
pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.fixture
def plan(data_folder: Path) -> Path:
    path = data_folder / "plan.txt"
    path.write_text("The secret plan.")
    assert run(["knowledge", "create", "Plans"]) == 0
    return path


def added(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> dict[str, Any]:
    (document,) = answered(capsys, "knowledge", "add", "Plans", str(path), *options)
    found: dict[str, Any] = document
    return found


class TestAdd:
    def test_without_options_keeps_the_rights_of_a_document(
        self, plan: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = added(capsys, plan)
        assert (first["readers"]["role"], first["classification"]) == ("viewer", 0)
        answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--role", "nobody", "--classification", "3")
        plan.write_text("The secret plan, second edition.")
        second = added(capsys, plan)
        assert (second["version"], second["readers"]["role"], second["classification"]) == (2, None, 3)

    def test_with_other_rights_than_the_document_is_refused(
        self, plan: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert added(capsys, plan, "--role", "owner", "--classification", "2")["readers"]["role"] == "owner"
        plan.write_text("Edited.")
        assert run(["knowledge", "add", "Plans", str(plan), "--role", "viewer"]) == CONFLICT
        assert run(["knowledge", "add", "Plans", str(plan), "--classification", "0"]) == CONFLICT
        assert answered(capsys, "knowledge", "status", "Plans")[0]["version"] == 1


class TestChange:
    def test_changes_only_what_is_named(self, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
        added(capsys, plan, "--role", "owner")
        changed = answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--classification", "2")
        assert (changed["readers"]["role"], changed["classification"]) == ("owner", 2)
        changed = answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--role", "editor")
        assert (changed["readers"]["role"], changed["classification"]) == ("editor", 2)
