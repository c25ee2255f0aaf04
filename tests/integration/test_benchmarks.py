"""Each benchmark works: run as a process with the smallest sizes, it exits with 0 and writes the expected rows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import benchmarks
import pytest
from benchmarks.measure import Report

ROWS: dict[str, set[str]] = {
    "alerts": {"1", "20"},
    "assistant": set(),
    "canvas": {"20"},
    "codev": set(),
    "engine": {"SQLite", "SQLite FULL", "PostgreSQL"},
    "fairness": {"4 sleeping runs", "8 short runs", "4 sleeping calls of own code", "workers: 8 short runs"},
    "identity": {"SQLite"},
    "knowledge": {"SQLite", "PostgreSQL"},
    "knowledge_leaks": {"SQLite", "PostgreSQL"},
    "mcp": set(),
    "page": {"flows", "runs", "settings"},
    "rest": {"3 steps", "12 steps"},
    "sandbox": set(),
    "scale": {"SQLite"},
    "startup": {"headgate version (ms)", "first healthy answer (ms)", "CPU of flows list (ms)", "memory after it (MB)"},
    "triggers": {"SQLite", "PostgreSQL"},
    "waiting": {"SQLite", "PostgreSQL"},
    "workers": {"runs of two steps drained (runs/s)"},
}
"""Each benchmark, and rows that it must write."""
APART = {"knowledge_deaths": {"SQLite", "PostgreSQL"}, "knowledge_quality": {"Headgate, lexical"}}
"""Those that `make bench` leaves out: one takes too long, the other needs a retrieval set."""

QUICK = ("engine", "identity", "rest")
"""Those that `make test` runs; `make test-faults` runs all."""


def test_every_benchmark_is_listed() -> None:
    programs = Path(benchmarks.__file__).parent.glob("*.py")
    assert {path.stem for path in programs if "arguments(__doc__" in path.read_text()} == {*ROWS, *APART}
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    listed = re.search(r"for name in ([a-z_ ]+); do", makefile)
    assert listed is not None
    assert {*listed[1].split()} == {*ROWS}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.campaign]) for name in (*ROWS, *APART)],
)
def test_smoke(name: str, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--smoke", "--json", str(figures)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"HEADGATE_DATA_DIR": str(tmp_path / "data")},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    written = json.loads(figures.read_text())
    rows = written if name == "sandbox" else written["rows"]
    assert rows
    assert (ROWS | APART)[name] <= {row.get("row") for row in rows}
    assert "run ended" not in done.stdout + done.stderr


def test_a_report_is_drawn_as_a_picture(tmp_path: Path) -> None:
    report = Report("Title", ("what", "value"))
    report.add("one", "1", values={"value": 1}, bar=("one", 0.5))
    report.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
