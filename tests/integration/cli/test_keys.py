"""`headgate keys`, called as a terminal calls it, on a real data folder."""

import asyncio
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from headgate.entrypoints.cli.app import run
from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.accounts.keys.secret import is_key
from headgate.foundation.database import now
from headgate.foundation.settings import Settings
from tests.support.cli import answered
from tests.support.people import asking, bearer, running, signed_in


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture(autouse=True)
def ana(capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
    answered(capsys, "users", "create", "ana@example.org", "--link")


def asked(folder: Path, key: str) -> httpx2.Response:
    """What a server on this data folder, where everybody signs in, answers to a key."""

    async def ask() -> httpx2.Response:
        settings = signed_in(Settings(_env_file=None, data_dir=folder))
        async with running(settings) as app, asking(app) as client:
            return await client.get("/api-keys", headers=bearer(key))

    return asyncio.run(ask())


class TestKeys:
    def test_are_made_for_a_person_used_listed_and_revoked(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        made = answered(capsys, "keys", "create", "nightly", "--user", "ana@example.org")
        assert is_key(made["key"])
        answer = asked(data_folder, made["key"])
        assert answer.status_code == 200, answer.text
        assert answer.json()["items"][0]["user"]["email"] == "ana@example.org"
        (listed,) = answered(capsys, "keys", "list")
        assert "key" not in listed
        assert listed["last_used_at"] is not None
        assert answered(capsys, "keys", "revoke", made["prefix"])["revoked_at"] is not None
        assert asked(data_folder, made["key"]).status_code == 401

    def test_take_scopes_spaces_and_days(self, capsys: pytest.CaptureFixture[str]) -> None:
        more = ("--scope", "runs.start", "--scope", "runs.view", "--space", "Personal", "--days", "30")
        made = answered(capsys, "keys", "create", "nightly", *more)
        assert (made["scopes"], made["space_ids"]) == (["runs.start", "runs.view"], [DEFAULT_SPACE_ID])
        left = datetime.fromisoformat(made["expires_at"]) - now()
        assert timedelta(days=29, hours=23) < left <= timedelta(days=30)

    def test_are_a_persons_where_people_sign_in(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "false")
        assert run(["keys", "create", "nightly"]) == 3
        assert "--user EMAIL" in capsys.readouterr().err
        assert answered(capsys, "keys", "create", "nightly", "--user", "ana@example.org")["user"]["email"]

    def test_are_listed_with_what_they_are_for(self, capsys: pytest.CaptureFixture[str]) -> None:
        answered(capsys, "keys", "create", "nightly", "--scope", "runs.start", "--space", "Personal")
        answered(capsys, "keys", "create", "builder", "--scope", "editor")
        answered(capsys, "keys", "create", "mine")
        assert run(["keys", "list"]) == 0
        _head, nightly, builder, mine = capsys.readouterr().out.splitlines()
        assert "runs.start in 1 space " in nightly
        assert " permissions " in builder
        assert " all " in mine

    def test_are_shown_to_people_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        capsys.readouterr()
        assert run(["keys", "create", "nightly", "--user", "ana@example.org"]) == 0
        (key,) = re.findall(r"^hg_\S+$", capsys.readouterr().out, re.MULTILINE)
        assert is_key(key)
        assert run(["keys", "list"]) == 0
        shown = capsys.readouterr().out
        assert "ana@example.org" in shown
        assert "never" in shown
        assert key[12:] not in shown
        assert run(["keys", "revoke", key[:11]]) == 0
        assert run(["keys", "list"]) == 0
        assert "revoked" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("--user", "nobody@example.org"), "user_not_found"),
            (("--scope", "runs.strat"), "scope_unknown"),
            (("--space", "Nowhere"), "space_not_found"),
            (("--user", "ana@example.org", "--space", "Personal"), "key_for_no_member"),
        ],
    )
    def test_are_not_made_for_what_is_not_there(
        self, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: str
    ) -> None:
        capsys.readouterr()
        assert run(["keys", "create", "nightly", *arguments, "--json"]) != 0
        assert json.loads(capsys.readouterr().out)["code"] == code
        assert answered(capsys, "keys", "list") == []

    def test_that_are_not_there_are_not_revoked(self, capsys: pytest.CaptureFixture[str]) -> None:
        capsys.readouterr()
        assert run(["keys", "revoke", "hg_abcdefgh", "--json"]) != 0
        assert json.loads(capsys.readouterr().out)["code"] == "key_not_found"
