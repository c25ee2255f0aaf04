"""Makes the data folders of earlier versions, with the code of their time.

    python -m tests.data.upgrades.make

No version was released yet, so each is a commit at which the schema stood still for a while. The code of the commit is
unpacked with `git archive` and run with today's libraries; a file that is there already is left alone. Each archive
has the data folder, with a flow, runs, a long result stored as a file, a secret, and evidence exported then. Two have
runs that wait: for a time, an approval, an event and the runs of a list, one that is paused, and an event that came
early. One of them was on PostgreSQL; it has the rows as SQL.
"""

import gzip
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from tests.support.databases import Postgres

FOLDER = Path(__file__).parent
VERSIONS = {"0001": "775f1f3a", "0003": "3aade46d", "0019": "60936411", "0029": "4de1f2d6"}
"""Schema to the last commit that had it."""
UNSIGNED = {"0001"}
"""Schemas of a time when evidence was not signed yet."""
FLOW = """name: Echo
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.message -> said.input
"""
SECRET = "the secret of this version"
WAITING_SCHEMA, WAITING_COMMIT = "0057", "124bbeec"
WAITING = FOLDER / f"{WAITING_SCHEMA}-waiting.tar.gz"
"""The data folder with runs that wait."""
WAITING_POSTGRES = FOLDER / f"{WAITING_SCHEMA}-waiting-postgres.tar.gz"
"""The same of an installation on PostgreSQL: its data folder with a dump."""
DUMP = "dump.sql"
WAIT_SECONDS = 3600
LIST = "order-3\norder-4\norder-5"
"""Of the run that waits in the middle of a list: the event for its first item came early."""
PATIENCE_SECONDS = 60
KEPT = ("headgate.db", DUMP, "secret.key", "evidence.key", "files")


def main() -> None:
    """Make what is missing."""
    for schema, commit in VERSIONS.items():
        if not (FOLDER / f"{schema}.tar.gz").exists():
            make(schema, commit, FOLDER / f"{schema}.tar.gz", fill)
    if not WAITING.exists():
        make(WAITING_SCHEMA, WAITING_COMMIT, WAITING, fill_waiting)
    if not WAITING_POSTGRES.exists():
        make(WAITING_SCHEMA, WAITING_COMMIT, WAITING_POSTGRES, fill_waiting_postgres)


def make(schema: str, commit: str, target: Path, fill: Callable[[Path, Path], None]) -> None:
    """Make the archive of one version."""
    with tempfile.TemporaryDirectory() as folder:
        _make(schema, commit, target, fill, Path(folder))


def _make(schema: str, commit: str, target: Path, fill: Callable[[Path, Path], None], folder: Path) -> None:
    source, data = folder / "source", folder / "data"
    source.mkdir()
    code = subprocess.run(["git", "archive", commit, "src"], check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(code)) as archive:
        archive.extractall(source, filter="data")
    fill(source, folder)
    if (data / DUMP).exists():
        assert f"{schema}\n" in (data / DUMP).read_text()
    else:
        with closing(sqlite3.connect(data / "headgate.db")) as connection:
            assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (schema,)
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute("VACUUM")
    with (
        target.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in KEPT:
            if (data / name).exists():
                archive.add(data / name, f"data/{name}")
        if (folder / "evidence.zip").exists():
            archive.add(folder / "evidence.zip", "evidence.zip")


def fill(source: Path, folder: Path) -> None:
    """Use the commands of that time."""
    (folder / "echo.flow").write_text(FLOW)
    run(source, folder, "variables", "set", "A_KEY", given=SECRET)
    run(source, folder, "run", "echo.flow", "--text", "hello")
    run(source, folder, "run", "echo.flow", "--text", "y" * 5_000)
    shutil.rmtree(folder / "data" / "workers", ignore_errors=True)
    with closing(sqlite3.connect(folder / "data" / "headgate.db")) as connection:
        (run_id,) = connection.execute("SELECT id FROM flow_runs ORDER BY created_at LIMIT 1").fetchone()
    run(source, folder, "runs", "evidence", run_id, "--output", str(folder / "evidence.zip"))


def fill_waiting_postgres(source: Path, folder: Path) -> None:
    """Do the same with a PostgreSQL server, and write its rows as SQL into the data folder."""
    database = Postgres(folder / "postgres", "made")
    try:
        with database.empty() as url:
            run(source, folder, "db", "upgrade", url=url)
            fill_waiting(source, folder, url)
            (folder / "data" / DUMP).write_text(database.dump(url))
    finally:
        database.close()


def fill_waiting(source: Path, folder: Path, url: str = "") -> None:
    """Use a server of that time, until all of its runs wait; then kill it."""
    command = (sys.executable, "-m", "headgate", "serve", "--port", "0", "--json")
    environment = _environment(source, folder, url)
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            with httpx2.Client(base_url=json.loads(server.stdout.readline())["url"] + "/api/v1", timeout=30) as client:
                _start_waiting(client)
        finally:
            server.kill()
    shutil.rmtree(folder / "data" / "workers", ignore_errors=True)


def _start_waiting(client: httpx2.Client) -> None:
    until = datetime.now(UTC) + timedelta(seconds=WAIT_SECONDS)
    timed = _publish(client, "Timed", "Wait", "value", "value", until=until.isoformat(timespec="seconds"))
    asking = _publish(client, "Asking", "Approval", "value", "approve")
    hearing = _publish(client, "Hearing", "WaitForEvent", "correlation", "data", event="paid")
    each = _publish(client, "Each", "ForEach", "items", "text", flow=hearing, parallel=1)
    for order in ("order-2", "order-3"):
        event = {"name": "paid", "correlation": order, "data": f"paid {order}", "keep_hours": 720}
        _send(client, "/events", event)
    runs = ((timed, "timed"), (asking, "asked"), (hearing, "order-1"), (each, LIST), (timed, "paused"))
    ids = [_send(client, f"/flows/{flow}/runs", {"text": text})["id"] for flow, text in runs]
    _until(lambda: {client.get(f"/flow-runs/{run_id}").json()["status"] for run_id in ids} == {"waiting"})
    _until(lambda: "order-4" in client.get("/events/waiting").text)
    _send(client, f"/flow-runs/{ids[-1]}/pause", {})
    _until(lambda: client.get(f"/flow-runs/{ids[-1]}").json()["status"] == "paused")


def _publish(client: httpx2.Client, name: str, type_: str, port: str, output: str, **params: Any) -> str:
    """Publish a flow that passes its text through one step; returns its id."""
    nodes = [("heard", "ChatInput", {}), ("step", type_, params), ("said", "ChatOutput", {})]
    definition = {
        "name": name,
        "nodes": [{"id": node, "type": kind, "params": values} for node, kind, values in nodes],
        "edges": [
            {"source": "heard", "output": "message", "target": "step", "input": port},
            {"source": "step", "output": output, "target": "said", "input": "input"},
        ],
    }
    flow_id: str = _send(client, "/flows", {"definition": definition})["id"]
    _send(client, f"/flows/{flow_id}/publish", {})
    return flow_id


def _send(client: httpx2.Client, path: str, content: dict[str, Any]) -> Any:
    answer = client.post(path, json=content)
    assert answer.is_success, answer.text
    return answer.json()


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def run(source: Path, folder: Path, *words: str, given: str = "", url: str = "") -> None:
    """One command."""
    command = [sys.executable, "-m", "headgate", *words]
    subprocess.run(
        command,
        cwd=folder,
        env=_environment(source, folder, url),
        input=given.encode(),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _environment(source: Path, folder: Path, url: str = "") -> dict[str, str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(source / "src"), "HOME": str(folder)}
    return (
        environment
        | {"HEADGATE_DATA_DIR": str(folder / "data"), "HEADGATE_LIMITS__MAX_INLINE_TEXT_BYTES": "256"}
        | ({"HEADGATE_DATABASE__URL": url} if url else {})
    )


if __name__ == "__main__":
    main()
