"""`headgate doctor` with the operator's outgoing proxy."""

import json
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.cli.app import run
from tests.support.connect_proxy import connect_proxy


def finding(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What doctor reports about the proxy."""
    capsys.readouterr()
    run(["doctor", "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return next(one for one in found if one["what"] == "outgoing proxy")


class TestTheOutgoingProxy:
    def test_is_asked_and_described(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with connect_proxy(tmp_path, user="u", password="p") as proxy:
            monkeypatch.setenv("HEADGATE_OUTGOING__PROXY_URL", proxy.url)
            monkeypatch.setenv("HEADGATE_OUTGOING__PROXY_USER", "u")
            monkeypatch.setenv("HEADGATE_OUTGOING__PROXY_PASSWORD", "wrong")
            refused = finding(capsys)
            monkeypatch.setenv("HEADGATE_OUTGOING__PROXY_PASSWORD", "p")
            accepted = finding(capsys)
        assert (refused["good"], "HEADGATE_OUTGOING__PROXY_PASSWORD" in refused["remedy"]) == (False, True)
        assert "wrong" not in json.dumps(refused)
        assert accepted["good"]
        assert f"127.0.0.9:{proxy.port} answers; it is sent checked addresses" in accepted["detail"]

    def test_is_reported_when_it_is_down(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("HEADGATE_OUTGOING__PROXY_URL", "http://127.0.0.9:1")
        down = finding(capsys)
        assert (down["good"], "HEADGATE_OUTGOING__PROXY_URL" in down["remedy"]) == (False, True)
