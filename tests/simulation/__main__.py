"""Run simulations: one seed, or fresh seeds for so many seconds. Prints a line of JSON; exits with 1 on a violation."""

import argparse
import asyncio
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from itertools import count, takewhile
from pathlib import Path

from headgate.foundation.database import Database
from headgate.foundation.log import configure
from headgate.foundation.settings import LogSettings
from tests.simulation.flows import StoredFlow, store_flows
from tests.simulation.mutations import MUTATIONS
from tests.simulation.plan import Plan, draw
from tests.simulation.server import Outcome
from tests.simulation.world import World
from tests.support.databases import SqliteFiles, make_settings

_SHRINK_SECONDS = 60.0
TRACE_LINES = 80


class Simulator:
    """Runs plans, each on a database of its own.

    Args:
        folder: Where their files go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        template = folder / "template"
        template.mkdir()
        SqliteFiles(template)
        self._template = template / "headgate.db"
        self._flows = asyncio.run(self._store_flows(template))

    async def _store_flows(self, folder: Path) -> dict[str, StoredFlow]:
        database = Database(make_settings(folder))
        flows = await store_flows(database)
        await database.close()
        return flows

    def simulate(self, plan: Plan) -> Outcome:
        """What a plan comes to."""
        folder = self._folder / "simulation"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return World(plan, self._template, self._flows, folder).run()

    def shrink(self, plan: Plan, outcome: Outcome) -> tuple[Plan, Outcome]:
        """Shrink a failing plan: remove one element after another while it still fails in the same way."""
        kind, until = outcome.violation.partition(":")[0], time.monotonic() + _SHRINK_SECONDS
        smaller = True
        while smaller and time.monotonic() < until:
            smaller = False
            for candidate in plan.smaller():
                candidate_outcome = self.simulate(candidate)
                if candidate_outcome.violation.partition(":")[0] == kind:
                    plan, outcome, smaller = candidate, candidate_outcome, True
                    break
        return plan, outcome


def main() -> int:
    """Run what the command line says."""
    options = _arguments()
    if options.mutation:
        MUTATIONS[options.mutation]()
    configure(LogSettings(level="critical"))
    sys.unraisablehook = lambda _: None  # coroutines of processes that died
    memory = Path("/dev/shm")  # a folder in memory
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None, prefix="simulation-") as folder:
        return _run(Simulator(Path(folder)), options)


def _run(simulator: Simulator, options: argparse.Namespace) -> int:
    until, totals = time.monotonic() + options.seconds, Outcome()
    seeds = count(options.first) if options.seed is None else iter([options.seed])
    simulations = 0
    for seed in takewhile(lambda _: options.seed is not None or time.monotonic() < until, seeds):
        plan = draw(seed, plain=options.plain)
        if options.bounded and not plan.is_bounded:
            continue
        simulations += 1
        outcome = simulator.simulate(plan)
        if outcome.violation:
            how = "--plain --seed" if options.plain else "--seed"
            _say(f"{outcome.violation}\nReplay: PYTHONHASHSEED=0 python -m tests.simulation {how} {seed}")
            smallest, outcome = (plan, outcome) if options.no_shrink else simulator.shrink(plan, outcome)
            _say("\n".join(["The smallest plan found:", str(smallest), *outcome.trace[-TRACE_LINES:]]))
            return 1
        totals = Outcome(
            "",
            outcome.trace,
            totals.callbacks + outcome.callbacks,
            totals.seconds + outcome.seconds,
            totals.runs + outcome.runs,
            totals.deaths + outcome.deaths,
            totals.suspended + outcome.suspended,
        )
    if options.trace:
        _say("\n".join(totals.trace))
    figures = {
        "simulations": simulations,
        "callbacks": totals.callbacks,
        "hours": round(totals.seconds / 3600, 1),
        "runs": totals.runs,
        "deaths": totals.deaths,
        "suspended": totals.suspended,
        "last_trace": hashlib.sha256("\n".join(totals.trace).encode()).hexdigest(),
    }
    _say(json.dumps(figures))
    return 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="simulate one seed")
    parser.add_argument("--first", type=int, default=0, help="the first of the fresh seeds")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long fresh seeds are tried")
    parser.add_argument("--mutation", choices=sorted(MUTATIONS), help="put a fault back that was fixed")
    parser.add_argument("--no-shrink", action="store_true", help="report the plan as it was drawn")
    parser.add_argument("--plain", action="store_true", help="no runs that wait for users, events, slots or other runs")
    parser.add_argument("--bounded", action="store_true", help="only plans with deadlines and budgets")
    parser.add_argument("--trace", action="store_true", help="print what happened")
    return parser.parse_args()


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is part of what is replayed
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])
    sys.exit(main())
