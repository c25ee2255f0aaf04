"""The simulator breaks no rule with fresh seeds, replays a seed exactly, and finds the faults that were fixed."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulation.mutations import MUTATIONS
from tests.support.properties import THOROUGH

Record = Callable[[str, object], None]
ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("SIMULATION_SECONDS", "8"))
"""How long fresh seeds are tried; `make test-faults` takes half an hour."""
MUTATION_SECONDS = 300
"""How long a mutation may take to be found when the machine is busy; alone each is found within 60 seconds."""
FOUND_BY = {
    "after-decisions": 36,
    "budgets": 2007,
    "budgets-daily": 2031,
    "budgets-raced": 2007,
    "clicks": 35,
    "connections": 1006,
    "deadlines": 7295,
    "deadlines-moved": 2013,
    "decisions": 35,
    "dispatch": 396,
    "early-events": 89,
    "early-wakes": 165,
    "escalation": 21,
    "events-again": 71,
    "handlers": 13,
    "models": 5,
    "notices-again": 341,
    "notices-lost": 1204,
    "notices-taken": 409,
    "outages": 77000103,
    "paused": 81,
    "paused-steps": 2034,
    "priority": 557,
    "reader": 0,
    "slots-counted": 250,
    "slots-freed": 35,
    "subflows": 89,
    "sweep": 128,
    "writer": 73,
}
"""A seed that finds each fault: the tests begin there. `make test-faults` looks for the smallest plan too."""
DURABLE_SEED = 821
"""Of a small plan with sub-flows and faults."""
NOTIFYING_SEED = 409
"""Of a plan with reminders and escalations, sent by several processes."""
BOUNDED_SEED = 2034
"""Of a plan with deadlines, budgets and several operators."""
OFTEN = ("clicks", "dispatch", "writer")
"""The faults that `make test` looks for; `make test-faults` looks for all."""


def simulate(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.simulation", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=False
    )


@pytest.mark.timeout(SECONDS + 300)
def test_fresh_seeds_break_no_rule(record_property: Record) -> None:
    ended = simulate("--seconds", SECONDS, "--first", time.time_ns() // 10**6 % 10**10)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    figures = json.loads(ended.stdout)
    record_property("figures", ", ".join(f"{value} {name}" for name, value in figures.items() if name != "last_trace"))


@pytest.mark.parametrize("seed", [24, pytest.param(31, marks=pytest.mark.campaign)])
def test_a_seed_is_replayed_exactly(seed: int) -> None:
    first, second = (json.loads(simulate("--seed", seed).stdout) for _ in range(2))
    assert first == second
    assert first["callbacks"] > 100


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [7101039, 5434398807])
def test_a_seed_that_broke_a_rule_breaks_none(seed: int) -> None:
    """Late messages failed a run that waited; the simulator itself took a starting process for undisturbed."""
    assert simulate("--plain", "--seed", seed).returncode == 0


def test_a_seed_that_found_a_lock_held_by_a_closed_connection_breaks_no_rule() -> None:
    """A full disk ended sessions whose cursors still existed: SQLite kept the write lock, and no step was woken."""
    assert simulate("--no-shrink", "--seed", 5935367136).returncode == 0


def test_a_seed_that_found_a_failure_without_a_handler_breaks_no_rule() -> None:
    """While a clock was ahead the latest failure seen lay in the future: those after it were never handled."""
    assert simulate("--no-shrink", "--seed", 5940521888).returncode == 0


def test_a_seed_that_found_a_run_failed_by_a_full_disk_breaks_no_rule() -> None:
    """A step that asked for a slot failed once the disk had been full for a minute."""
    assert simulate("--no-shrink", "--seed", 77000103).returncode == 0


@pytest.mark.parametrize(
    "seed", [DURABLE_SEED, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in (NOTIFYING_SEED, BOUNDED_SEED))]
)
def test_runs_that_wait_are_replayed_exactly(seed: int) -> None:
    """Sessions, approvals with their notices, events and slots are simulated too."""
    first, second = (json.loads(simulate("--seed", seed).stdout) for _ in range(2))
    assert first == second
    assert first["suspended"] > 0


def test_a_long_wait_is_suspended() -> None:
    assert json.loads(simulate("--seed", 81).stdout)["suspended"] > 0


@pytest.mark.timeout(MUTATION_SECONDS + 120)
@pytest.mark.parametrize("name", sorted(MUTATIONS) if THOROUGH else OFTEN)
def test_finds_a_fault_that_was_fixed(name: str, record_property: Record) -> None:
    shrinking = [] if THOROUGH else ["--no-shrink"]
    ended = simulate("--mutation", name, "--seconds", MUTATION_SECONDS, "--first", FOUND_BY[name], *shrinking)
    assert ended.returncode == 1, f"{name} was not found: {ended.stdout}{ended.stderr}"
    violation, replay, *trace = ended.stdout.splitlines()
    assert re.fullmatch(r"Replay: .*--seed \d+", replay)
    assert "VIOLATION" in trace[-1]
    record_property("figures", f"{name}: {violation}, seed {replay.rpartition(' ')[2]}")
