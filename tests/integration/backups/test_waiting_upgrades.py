"""Runs that waited in an installation of an earlier version continue after the upgrade, each as its flow says."""

import sqlite3
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import OK
from headgate.foundation.database.migrate import HEAD
from tests.data.upgrades.make import DUMP, WAIT_SECONDS, WAITING, WAITING_POSTGRES, WAITING_SCHEMA
from tests.integration.backups.conftest import Ask, use
from tests.integration.faults.installation import Installation
from tests.support.databases import Postgres
from tests.support.patience import PATIENCE_SECONDS

pytestmark = [pytest.mark.both_databases, pytest.mark.timeout(300)]


class Upgraded:
    """The folder, and a server of this version whose clock begins when the runs began to wait."""

    def __init__(self, installation: Installation, url: str) -> None:
        self._folder = installation.folder
        self._clock = installation.folder / "clock"
        self._url = url
        rows = self._rows(
            "SELECT r.id, f.name, r.status, r.parent_run_id, r.created_at FROM flow_runs r"
            " JOIN flows f ON f.id = r.flow_id ORDER BY r.created_at"
        )
        self._stored_at = max(row[4] for row in rows) / 1_000_000
        self.ids = {f"{row[1]} {row[2]}": str(row[0]) for row in rows if row[3] is None}
        """Name and stored status to each run that no other run started."""
        self.set_clock(0)
        server = installation.start(clock=self._clock)
        self.client = httpx2.Client(base_url=f"{server.url}/api/v1", timeout=PATIENCE_SECONDS)

    def set_clock(self, seconds: float) -> None:
        """Set the clock of the server to so many seconds after the last run of the folder began."""
        self._clock.write_text(str(self._stored_at + seconds - time.time()))

    def status(self, key: str) -> str:
        """The status of a run."""
        return str(self.client.get(f"/flow-runs/{self.ids[key]}").json()["status"])

    def send(self, path: str, content: dict[str, Any]) -> Any:
        """Post something."""
        answer = self.client.post(path, json=content)
        assert answer.is_success, answer.text
        return answer.json()

    def ended(self, key: str) -> str:
        """What a run said, once it is over; its evidence is verified."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (answer := self.client.get(f"/flow-runs/{self.ids[key]}").json())["status"] in {"waiting", "running"}:
            assert time.monotonic() < end, answer
            time.sleep(0.05)
        assert answer["status"] == "completed", answer
        self.verify(self.ids[key])
        return str(answer["text"])

    def children(self, run_id: str) -> list[tuple[str, str]]:
        """Id and status of the runs that the steps of a run started."""
        rows = self._rows("SELECT id, status, parent_run_id FROM flow_runs")
        return [(child, status) for child, status, parent in rows if parent == run_id]

    def _rows(self, query: str) -> list[Any]:
        if self._url:
            with psycopg.connect(self._url.replace("+psycopg", "")) as database:
                return database.execute(query.encode()).fetchall()
        with closing(sqlite3.connect(self._folder / "headgate.db")) as connection:
            return connection.execute(query).fetchall()

    def verify(self, run_id: str) -> None:
        """Verify the evidence of a run."""
        file = self._folder / f"{run_id}.zip"
        file.write_bytes(self.client.get(f"/flow-runs/{run_id}/evidence", params={"format": "zip"}).content)
        assert run(["evidence", "verify", str(file)]) == OK


@pytest.fixture(params=["", pytest.param("postgres", marks=pytest.mark.postgres)], ids=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The data folder of an earlier version, and the URL of its database; empty for SQLite."""
    with tarfile.open(WAITING_POSTGRES if request.param else WAITING) as archive:
        archive.extractall(tmp_path, filter="data")
    if not request.param:
        yield ""
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.empty() as database:
        server.load(database, (tmp_path / "data" / DUMP).read_text())
        monkeypatch.setenv("HEADGATE_DATABASE__URL", database)
        yield database


@pytest.fixture
def upgraded(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> Iterator[Upgraded]:
    monkeypatch.chdir(tmp_path)
    data = use(monkeypatch, tmp_path / "data")
    outcome = ask("db", "upgrade")
    assert (outcome["before"], outcome["after"]) == (WAITING_SCHEMA, HEAD)
    settings = {"HEADGATE_LOG__LEVEL": "warning"} | ({"HEADGATE_DATABASE__URL": url} if url else {})
    installation = Installation(data, settings)
    folder = Upgraded(installation, url)
    yield folder
    folder.client.close()
    installation.close()


def test_waiting_runs_of_an_earlier_version_continue_and_end(upgraded: Upgraded) -> None:
    waiting = [key for key in upgraded.ids if key.endswith(" waiting")]
    assert sorted(upgraded.ids) == sorted((*waiting, "Timed paused"))
    assert {upgraded.status(key) for key in waiting} == {"waiting"}

    # A decision.
    (approval,) = upgraded.client.get("/approvals", params={"status": "pending"}).json()["items"]
    upgraded.send(f"/approvals/{approval['id']}/decision", {"decision": "approve"})
    assert upgraded.ended("Asking waiting") == "asked"

    # An event, and one that came before the upgrade.
    upgraded.send("/events", {"name": "paid", "correlation": "order-1", "data": "paid order-1"})
    assert upgraded.ended("Hearing waiting") == "paid order-1"
    hearing = upgraded.client.get(f"/flow-runs/{upgraded.ids['Hearing waiting']}").json()["flow_id"]
    later = upgraded.send(f"/flows/{hearing}/runs", {"text": "order-2", "wait": True})
    assert (later["status"], later["text"]) == ("completed", "paid order-2")

    # The items of a list that had not finished.
    for order in ("order-4", "order-5"):
        upgraded.send("/events", {"name": "paid", "correlation": order, "data": f"paid {order}"})
    assert upgraded.ended("Each waiting") == "paid order-3\n\npaid order-4\n\npaid order-5"
    children = upgraded.children(upgraded.ids["Each waiting"])
    assert [status for _, status in children] == ["completed"] * 3
    for run_id, _ in children:
        upgraded.verify(run_id)

    # The time, for one that may continue and for one that is paused.
    assert upgraded.status("Timed waiting") == "waiting"
    upgraded.set_clock(WAIT_SECONDS)
    assert upgraded.ended("Timed waiting") == "timed"
    assert upgraded.status("Timed paused") == "paused"
    upgraded.send(f"/flow-runs/{upgraded.ids['Timed paused']}/continue", {})
    assert upgraded.ended("Timed paused") == "paused"
    assert run(["audit", "verify"]) == OK
