"""Makes the data folders of earlier versions, with the code of their time.

    python -m tests.data.upgrades.make

No version was released yet, so each is a commit at which the schema stood still for a while. The code of the commit is
checked out with `git worktree` and run with today's libraries; a file that is there already is left alone. Each archive
has the data folder, with a flow, runs, a long result stored as a file, a secret, and evidence exported then.
"""

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

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
KEPT = ("headgate.db", "secret.key", "evidence.key", "files")


def main() -> None:
    """Make what is missing."""
    for schema, commit in VERSIONS.items():
        if not (FOLDER / f"{schema}.tar.gz").exists():
            with tempfile.TemporaryDirectory() as folder:
                make(schema, commit, Path(folder))


def make(schema: str, commit: str, folder: Path) -> None:
    """Make the archive of one version."""
    source, data = folder / "source", folder / "data"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(source), commit], check=True)
    try:
        fill(source, folder)
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(source)], check=True)
    with closing(sqlite3.connect(data / "headgate.db")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (schema,)
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    with (
        (FOLDER / f"{schema}.tar.gz").open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in KEPT:
            if (data / name).exists():
                archive.add(data / name, f"data/{name}")
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


def run(source: Path, folder: Path, *words: str, given: str = "") -> None:
    """One command."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(source / "src"), "HOME": str(folder)}
    environment |= {"HEADGATE_DATA_DIR": str(folder / "data"), "HEADGATE_LIMITS__MAX_INLINE_TEXT_BYTES": "256"}
    command = [sys.executable, "-m", "headgate", *words]
    subprocess.run(command, cwd=folder, env=environment, input=given.encode(), check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
