"""Spaces and their members, from the command line."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.features.access.principal import DEFAULT_SPACE_ID
from tests.support.cli import answered

ANNA = "anna@example.org"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("HEADGATE_TENANT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestSpaces:
    def test_are_made_named_and_deleted(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "spaces", "create", " Permits ")
        assert made["name"] == "Permits"
        assert [one["name"] for one in answered(capsys, "spaces", "list")] == ["Personal", "Permits"]
        assert answered(capsys, "spaces", "create", "Permits", code=6)["code"] == "space_name_taken"
        assert answered(capsys, "spaces", "rename", "Permits", "Licences")["id"] == made["id"]
        assert answered(capsys, "spaces", "rename", made["id"], "Permits")["name"] == "Permits"
        assert answered(capsys, "spaces", "delete", "Permits") == {"deleted": made["id"]}
        assert answered(capsys, "spaces", "members", "Permits", code=4)["code"] == "space_not_found"
        assert answered(capsys, "spaces", "delete", "Personal", code=6)["code"] == "space_in_use"
        assert answered(capsys, "spaces", "create", "a\nb", code=3)["code"] == "invalid"

    def test_get_members_by_their_address(self, capsys: pytest.CaptureFixture[str]) -> None:
        anna = answered(capsys, "users", "create", ANNA, "--link")["id"]
        answered(capsys, "spaces", "create", "Permits", "--owner", ANNA)
        (owner,) = answered(capsys, "spaces", "members", "Permits")
        assert (owner["user_id"], owner["role"]) == (anna, "owner")
        answered(capsys, "users", "create", "ben@example.org", "--link")
        for role in ("viewer", "publisher"):
            ben = answered(capsys, "spaces", "add-member", "Permits", "Ben@example.org", "--role", role)
            assert ben["role"] == role
        assert len(answered(capsys, "spaces", "members", "Permits")) == 2
        assert answered(capsys, "spaces", "remove-member", "Permits", ben["user_id"]) == {"removed": ben["user_id"]}
        gone = answered(capsys, "spaces", "remove-member", "Permits", "ben@example.org", code=4)
        assert gone["code"] == "member_not_found"
        assert answered(capsys, "spaces", "add-member", "Permits", "x@example.org", code=4)["code"] == "user_not_found"
        assert run(["spaces", "members", "Permits"]) == 0
        assert ANNA in capsys.readouterr().out

    def test_take_the_flows_that_are_made_for_them(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "echo.flow").write_text("name: Echo\nnodes:\n  heard: ChatInput\n")
        made = answered(capsys, "spaces", "create", "Permits")
        answered(capsys, "import", str(tmp_path / "echo.flow"))
        assert run(["flows", "list"]) == 0
        assert "space" not in capsys.readouterr().out
        for space in ("Permits", made["id"]):
            answered(capsys, "--space", space, "import", str(tmp_path / "echo.flow"))
        found = [one["space_id"] for one in answered(capsys, "flows", "list")]
        assert found == [made["id"], made["id"], DEFAULT_SPACE_ID]
        assert run(["flows", "list"]) == 0
        assert capsys.readouterr().out.count("Permits") == 2
        assert answered(capsys, "--space", "Nowhere", "flows", "list", code=4)["code"] == "space_not_found"

    def test_are_somebodys_where_people_sign_in(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "false")
        assert run(["spaces", "create", "Permits"]) == 3
        assert "--owner EMAIL" in capsys.readouterr().err

    def test_are_of_the_tenant_that_was_chosen(self, capsys: pytest.CaptureFixture[str]) -> None:
        answered(capsys, "tenants", "create", "Other")
        answered(capsys, "--tenant", "Other", "spaces", "create", "Permits")
        assert [one["name"] for one in answered(capsys, "--tenant", "Other", "spaces", "list")] == [
            "General",
            "Permits",
        ]
        assert [one["name"] for one in answered(capsys, "spaces", "list")] == ["Personal"]
        assert answered(capsys, "spaces", "members", "Permits", code=4)["code"] == "space_not_found"
