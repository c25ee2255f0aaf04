"""`headgate doctor`, with a provider that is set up."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT
from tests.support.hostile_provider import CLIENT_ID, HostileProvider
from tests.support.scripted_server import Reply


@pytest.fixture(autouse=True)
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileProvider]:
    with HostileProvider() as found:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "false")
        monkeypatch.setenv("HEADGATE_SERVER__PUBLIC_URL", "https://headgate.example.org")
        monkeypatch.setenv("HEADGATE_SINGLE_SIGN_ON__ISSUER", found.issuer)
        monkeypatch.setenv("HEADGATE_SINGLE_SIGN_ON__CLIENT_ID", CLIENT_ID)
        monkeypatch.chdir(tmp_path)
        yield found


def findings(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What doctor says of single sign-on."""
    capsys.readouterr()
    run(["doctor", "--json"])
    return [one for one in json.loads(capsys.readouterr().out)["findings"] if one["what"] == "single sign-on"]


class TestUnlink:
    def test_forgets_what_the_provider_calls_a_person(self, tmp_path: Path) -> None:
        assert run(["users", "create", "ada@example.org", "--link"]) == 0
        assert run(["users", "unlink", "ada@example.org"]) == CONFLICT
        with closing(sqlite3.connect(tmp_path / "data" / "headgate.db", isolation_level=None)) as database:
            database.execute("UPDATE users SET sso_issuer = 'i', sso_subject = 's' WHERE email = 'ada@example.org'")
            assert run(["users", "unlink", "ada@example.org"]) == 0
            query = "SELECT sso_issuer, sso_subject FROM users WHERE email = 'ada@example.org'"
            assert database.execute(query).fetchone() == (None, None)
            query = "SELECT action, actor_kind FROM audit_events ORDER BY seq DESC LIMIT 1"
            assert database.execute(query).fetchone() == ("user.unlinked", "command")


class TestDoctor:
    def test_says_what_to_register(self, capsys: pytest.CaptureFixture[str], provider: HostileProvider) -> None:
        (found,) = findings(capsys)
        assert found["good"]
        assert found["detail"].startswith(f"{provider.issuer}, keys: 1;")
        assert found["detail"].endswith("https://headgate.example.org/api/v1/sign-in/oidc/callback")

    @pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys"])
    @pytest.mark.parametrize("body", [b"<html>", b'{"keys": []}', b'{"keys": 7}'])
    def test_says_what_is_wrong_with_the_provider(
        self, capsys: pytest.CaptureFixture[str], provider: HostileProvider, path: str, body: bytes
    ) -> None:
        provider.replies[path] = Reply((body,))
        (found,) = findings(capsys)
        assert not found["good"]
        assert found["remedy"]

    def test_says_that_auto_login_is_on(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "true")
        _, found = findings(capsys)
        assert (found["good"], found["needed"]) == (False, False)

    def test_says_nothing_where_none_is_set_up(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HEADGATE_SINGLE_SIGN_ON__ISSUER")
        assert findings(capsys) == []
