"""What the development agent costs besides its model: a session's steps, and what discovery tells of a Flowise.

A session looks around with twelve tool calls, plans, is approved, writes three times, runs three cases, and is
accepted; the model and the place answer at once, in this process. The floor, in turns with it: as many steps of a
LangGraph graph whose nodes do nothing, with the same saver and the same durability.

Discovery is measured on the real Flowise that `scripts/ensure-flowise` has put into .tools; without it, left out.

    python -m benchmarks.codev [--quick | --smoke] [--json FILE]
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from tests.support.databases import Postgres, make_settings, migrate
from typing_extensions import TypedDict

from benchmarks.codev_discovery import discover
from benchmarks.codev_place import CASES, LOOKS, WRITES, AtOnce, NoPatterns, memory
from benchmarks.measure import Report, arguments, cpu_seconds, percentile
from headgate.agents.codev.schemas import PlanAnswer, Resume, ReviewAnswer, SessionStart
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.event_log import LiveEvents
from headgate.agents.codev.sessions.notices import Notices
from headgate.agents.codev.sessions.places import Surroundings
from headgate.agents.codev.sessions.runner import Runner
from headgate.agents.codev.sessions.service import Sessions
from headgate.features.access.principal import LOCAL
from headgate.features.accounts.throttle import RateLimits
from headgate.features.jobs.leases import Leases
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.runs.evidence.service import Notary
from headgate.features.secrets.reads import NO_READS
from headgate.foundation import log
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import LogSettings, Settings

TIME_AIM, CPU_AIM = 4.0, 4.0
"""Times the floor, a step."""
SESSION, FLOOR = "session", "raw floor"


@dataclass
class Took:
    """Milliseconds and processor milliseconds of each round, and the checkpoints that it wrote."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    steps: int = 0


class Counted:
    """How many checkpoints a saver wrote."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self.saver = saver
        self.steps = 0
        self._put: Callable[..., Awaitable[Any]] = saver.aput
        saver.aput = self._counting  # type: ignore[method-assign]

    async def _counting(self, *given: Any, **named: Any) -> Any:
        self.steps += 1
        return await self._put(*given, **named)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    log.configure(LogSettings(level="error"))
    rounds = options.choose(62, 8, 1)
    report = Report(
        f"The development agent; load of the machine {os.getloadavg()[0]:.1f}",
        ("what", "p50 ms", "p95 ms", "CPU-ms", "floor p50", "floor CPU", "time", "CPU", "aim"),
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        settings = make_settings(place / "sqlite")
        migrate(settings)
        asyncio.run(_sessions(report, "SQLite", settings, rounds))
        server = Postgres(place / "postgres", "bench", careless=())
        try:
            with server.fresh() as url:
                asyncio.run(_sessions(report, "PostgreSQL", make_settings(place / "data", url), rounds, server.pid))
        finally:
            server.close()
    discover(report, options.choose(100, 20, 1))
    report.finish(options, picture="codev.png")


async def _sessions(report: Report, database: str, settings: Settings, rounds: int, *servers: int) -> None:
    async with _opened(settings) as (sessions, counted):
        floor = _floor(counted.saver)
        took = {SESSION: Took(), FLOOR: Took()}
        for number in range(rounds):
            before = counted.steps
            ours = await _measured(lambda: _session(sessions), servers)
            took[SESSION].steps = counted.steps - before
            bare = await _measured(lambda: _walk(floor, f"floor-{database}-{number}", took[SESSION].steps), servers)  # noqa: B023
            if number < min(2, rounds - 1):  # the first imports LangGraph and makes tables
                continue
            for name, (clock, processor) in ((SESSION, ours), (FLOOR, bare)):
                took[name].clock.append(clock)
                took[name].processor.append(processor)
    _tell(report, database, took)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Sessions, Counted]]:
    database = Database(settings)
    around = Surroundings(
        reasoning=AtOnce(),
        patterns=lambda *_: NoPatterns(),
        http=None,  # type: ignore[arg-type]  # no session has a webhook
        secret_of=_no_secret,
        places={"memory": memory()},
    )
    live, checkpoints = LiveEvents(), Checkpoints(settings, database)
    jobs = JobRunner(database, Leases(Worker(settings.data_dir / "workers"), settings.engine.lease_seconds))
    runner = Runner(
        *(settings, database, SecretBox(new_ring(settings)), around, checkpoints, live, jobs),
        notices=Notices(database, around, live, jobs),
    )
    try:
        async with jobs.running():
            notary = Notary(runner.box, EvidenceSigner(new_ring(settings)), lambda _: NO_READS)
            yield Sessions(settings, database, runner, RateLimits({}), notary), Counted(await checkpoints.saver())
    finally:
        await checkpoints.close()
        await database.close()


async def _no_secret(_tenant_id: str, _name: str) -> None:
    return None


async def _measured(work: Callable[[], Awaitable[None]], servers: tuple[int, ...]) -> tuple[float, float]:
    """Milliseconds, and those of processors: this process's and the database server's."""
    began, used = time.perf_counter(), time.process_time() + cpu_seconds(*servers)
    await work()
    return (time.perf_counter() - began) * 1000, (time.process_time() + cpu_seconds(*servers) - used) * 1000


async def _session(sessions: Sessions) -> None:
    """From its start to its end, each answer given as soon as it is asked for."""
    begun = await sessions.start(LOCAL, SessionStart(requirement="Write.", domain="memory", skip_clarification=True))
    for answer in (
        PlanAnswer(type="plan_approval", approved=True),
        ReviewAnswer(type="result_review", accepted=True),
    ):
        waiting = await sessions.wait(LOCAL, begun.thread_id)
        if waiting.interrupt is None:
            raise RuntimeError(f"the session is {waiting.status}: {waiting.stop_reason}")
        await sessions.resume(LOCAL, begun.thread_id, Resume(response=answer))
    ended = await sessions.wait(LOCAL, begun.thread_id)
    if ended.status != "completed":
        raise RuntimeError(f"the session is {ended.status}: {ended.stop_reason}")


class Left(TypedDict):
    """How many steps are left."""

    steps: int


def _floor(saver: BaseCheckpointSaver[Any]) -> Any:
    """A graph that goes round as often as it is told."""
    graph = StateGraph(Left)
    graph.add_node("step", lambda state: {"steps": state["steps"] - 1})
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: "step" if state["steps"] > 0 else END, ["step", END])
    return graph.compile(checkpointer=saver)


async def _walk(graph: Any, thread: str, steps: int) -> None:
    """As many checkpoints as a session: one is that of the input."""
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 1000}
    await graph.ainvoke({"steps": steps - 2}, config, durability="sync")


def _tell(report: Report, database: str, took: dict[str, Took]) -> None:
    ours, floor = took[SESSION], took[FLOOR]
    whole = f"{database}: session of {LOOKS + WRITES} tool calls, {CASES} cases, {ours.steps} steps"
    for what, share in ((whole, 1), (f"{database}: a step of it", ours.steps)):
        middle, high = percentile(ours.clock, 0.5) / share, percentile(ours.clock, 0.95) / share
        used, bare = percentile(ours.processor, 0.5) / share, percentile(floor.clock, 0.5) / share
        bare_used = percentile(floor.processor, 0.5) / share
        report.add(
            what,
            *(f"{value:.1f}" for value in (middle, high, used, bare, bare_used)),
            f"{middle / bare:.2f}x",
            f"{used / bare_used:.2f}x",
            f"{TIME_AIM:g}x, {CPU_AIM:g}x",
            values={
                "p50": middle,
                "p95": high,
                "cpu_ms": used,
                "floor_p50": bare,
                "floor_cpu_ms": bare_used,
                "time": middle / bare,
                "cpu": used / bare_used,
                "steps": ours.steps,
            },
            bar=(f"{database}: time over the floor", middle / bare / TIME_AIM) if share > 1 else None,
        )
    report.bars.append((f"{database}: processor time over the floor", used / bare_used / CPU_AIM))


if __name__ == "__main__":
    main()
