"""Backups of a server that starts runs all the time: each one is restored, finished, and its evidence verified."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.features.runs.evidence.verify import verify
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.audit import quiet
from tests.integration.faults.installation import QUIET_SECONDS, Installation
from tests.support.databases import make_settings
from tests.support.forked import fork

BACKUPS = 3
STEP_SECONDS = 0.4
pytestmark = pytest.mark.timeout(240 + QUIET_SECONDS * BACKUPS)


def flow(counter: Path) -> dict[str, Any]:
    """A step that makes a file, and one that takes a while."""
    return {
        "name": "much",
        "nodes": [
            {"id": "heard", "type": "ChatInput"},
            {"id": "much", "type": "Much", "params": {"size": 5000}},
            {"id": "a", "type": "Count", "params": {"path": str(counter), "seconds": STEP_SECONDS}},
        ],
        "edges": [
            {"source": "heard", "output": "text", "target": "much", "input": "input"},
            {"source": "much", "output": "text", "target": "a", "input": "input"},
        ],
    }


async def command(folder: Path, environment: dict[str, str], *words: str) -> Any:
    """A command's JSON."""

    def run() -> Any:
        process = fork("headgate", *words, "--json", environment=environment | {"HEADGATE_DATA_DIR": str(folder)})
        output = process.communicate()
        assert process.returncode == 0, output
        return json.loads(output)

    return await asyncio.to_thread(run)


async def submit(installation: Installation, url: str, flow_id: str, end: asyncio.Event) -> None:
    """Start a run every few milliseconds."""
    async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
        while not end.is_set():
            answer = await client.post(f"/api/v1/flows/{flow_id}/runs", json={"text": "hello"})
            if answer.status_code == 201:
                installation.acknowledged.append(answer.json()["id"])
            await asyncio.sleep(0.1)


async def check(url: str, ids: list[str]) -> None:
    """Every run completed, and its evidence with the files it made verifies."""
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        for run_id in ids:
            answer = await client.get(f"/api/v1/flow-runs/{run_id}/evidence", params={"format": "zip"})
            assert answer.status_code == 200, answer.text
            verdict = verify(answer.content)
            assert verdict.good, verdict


@pytest.fixture
def limits(installation: Installation) -> Installation:
    """Long texts become files."""
    installation.environment = {**installation.environment, "HEADGATE_LIMITS__MAX_INLINE_TEXT_BYTES": "256"}
    return installation


class TestUnderLoad:
    async def test_each_backup_is_one_moment_of_the_installation(
        self, limits: Installation, settings: Settings, tmp_path: Path
    ) -> None:
        if settings.database.url.startswith("postgresql"):
            pytest.skip("backups of PostgreSQL are tested in test_postgres.py")
        environment = {"PATH": "/usr/bin:/bin", **limits.environment}
        server = await limits.up()
        flow_id = await limits.make_flow(server, flow(limits.counter))
        end = asyncio.Event()
        load = [asyncio.create_task(submit(limits, server.url, flow_id, end)) for _ in range(2)]
        taken = []
        for number in range(BACKUPS):
            await limits.taken(10)
            before = list(limits.acknowledged)
            words = ("backup", "create", "--with-keys", "--output", str(tmp_path / f"{number}.hgbackup"))
            backup = await command(limits.folder, environment, *words)
            assert backup["lost_contents"] == 0
            taken.append((Path(backup["path"]), before))
        end.set()
        await asyncio.gather(*load)
        limits.kill(server)
        in_progress = 0
        for number, (path, before) in enumerate(taken):
            in_progress += await restored(path, before, tmp_path / f"restored-{number}", limits)
        assert in_progress, "no run was in progress in any backup"


def runs_of(folder: Path) -> dict[str, str]:
    """Run id to status, in a database that nobody writes to."""
    with closing(sqlite3.connect(folder / "headgate.db")) as connection:
        return dict(connection.execute("SELECT id, status FROM flow_runs").fetchall())


async def restored(path: Path, before: list[str], folder: Path, limits: Installation) -> int:
    """Restore a backup, let its runs finish and check them. Returns how many were in progress."""
    environment = {"PATH": "/usr/bin:/bin", **limits.environment, "HEADGATE_DATABASE__URL": ""}
    await command(folder, environment, "restore", str(path))
    live = [run_id for run_id, status in runs_of(folder).items() if status in {"queued", "running"}]
    other = Installation(folder, environment)
    try:
        server = await other.up()
        database = Database(make_settings(folder))
        await quiet(database, QUIET_SECONDS)
        await database.close()
        runs = runs_of(folder)
        assert set(runs.values()) == {"completed"}
        assert set(before) <= set(runs), "a run that was acknowledged before the backup is missing"
        await check(server.url, [*sorted(runs)[-20:], *live])
    finally:
        other.close()
    return len(live)
