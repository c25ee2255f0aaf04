"""One simulation: processes with real engines in them, and clients that start runs and wait for them."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.backend import RunRequest
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.slots.service import Slots
from headgate.features.runs.step_services import Services
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid, Unavailable
from headgate.foundation.events import EventBus
from headgate.foundation.ids import new_id
from headgate.foundation.settings import DatabaseSettings, EngineSettings
from headgate.graph.model import Flow
from headgate.sdk import RunInput
from tests.simulation.answers import Answers
from tests.simulation.cluster import ClusterEngine, SimulatedBroker, SqliteDispatchStore
from tests.simulation.durable_rules import LATE_SECONDS, DurableRules, settled
from tests.simulation.faults import Faults
from tests.simulation.flows import COMPONENTS, LAST_STEPS, SIMULATION, ModelLimit, SimulatedModels, StoredFlow
from tests.simulation.limits import LimitRules
from tests.simulation.loop import CURRENT, WORLD, MachineClock, Process, SimulatedLoop, Stuck
from tests.simulation.machine import Disk, simulated
from tests.simulation.notices import NoticeRules, Receiver, make_jobs
from tests.simulation.plan import STANDSTILL_SECONDS, Plan, PlannedPause, PlannedRun
from tests.simulation.readers import Reader
from tests.simulation.rules import SUSPENDED_ATTEMPTS, Rules
from tests.simulation.server import Outcome, Server, Violation, context_of
from tests.simulation.sessions import LOCK_SECONDS
from tests.support.databases import make_settings
from tests.support.engine import OneSpace, make_services
from tests.support.services import FreeSlots, NoFailureHandlers

IDLE_SECONDS = 70.0
"""Seconds after the last run after which nothing may be kept in memory."""
MOST_REQUESTS = 1000


class World:
    """One simulation.

    Args:
        plan: What happens.
        template: A migrated SQLite file with the versions of `keys`.
        flows: Name to stored version.
        folder: Where the simulation's files go.
    """

    def __init__(self, plan: Plan, template: Path, flows: Mapping[str, StoredFlow], folder: Path) -> None:
        self._plan = plan
        self._flows = flows
        self._folder = folder
        self._path = folder / "headgate.db"
        self._path.write_bytes(template.read_bytes())
        self._disk = Disk(Random(f"{plan.seed}:disk"), self._kill)
        self.loop = SimulatedLoop(Random(f"{plan.seed}:loop"), self._unhandled)
        self._broker = SimulatedBroker(Random(f"{plan.seed}:broker"), self.loop)
        self._told: list[list[str]] = []
        self._servers: list[Server | None] = [None] * plan.processes
        shared = MachineClock()
        self._clocks = [shared if plan.same_machine else MachineClock() for _ in range(plan.processes)]
        self._all: dict[str, Server] = {}
        self._failed_once: set[str] = set()
        self._waiters: dict[asyncio.Task[None], tuple[Server, str]] = {}
        self._readers: dict[asyncio.Task[None], Reader] = {}
        self._violations: list[str] = []
        self._booting: dict[int, asyncio.Lock] = {}
        """Number of a server to what only one holds that starts it."""
        self._healing = False
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Simulate."""
        with simulated(self.loop, self._disk, self._plan.seed):
            asyncio.set_event_loop(None)
            flow_ids = {name: flow.key.flow_id for name, flow in self._flows.items()}
            self._rules = Rules(self._plan, self._path, self.loop, self._all, self._fail, flow_ids=flow_ids)
            self._answers = Answers(self._rules, self._running, self._ask)
            self._durable = DurableRules(self._rules, self._answers)
            self._limits = LimitRules(self._rules)
            self._receiver = Receiver(Random(f"{self._plan.seed}:receiver"), self._rules, self._note)
            self._faults = Faults(
                self._plan,
                self._path,
                self._disk,
                self._broker,
                self._servers,
                everyone=self._all,
                clocks=self._clocks,
                restart=self._running,
                kill=self._kill,
                note=self._note,
            )
            try:
                self.loop.run_until_complete(self._live())
            except Stuck:
                self._violations.append("stuck: nothing is left that could happen, and the simulation is not over")
            except (Violation, RuntimeError):  # a violation stops the loop
                if not self._violations:
                    raise
            finally:
                self.loop.leave_tasks()
            self.outcome.runs = self._rules.row("SELECT count(*) FROM flow_runs")[0]
            self.outcome.suspended = self._rules.row(f"SELECT count(*) {SUSPENDED_ATTEMPTS}")[0]
        self.outcome.violation = self._violations[0] if self._violations else ""
        self.outcome.callbacks, self.outcome.seconds = self.loop.callbacks, self.loop.time()
        return self.outcome

    async def execute(self, ctx: Any) -> None:
        """The body of a step."""
        process, run_id, step = CURRENT.get(), ctx.run_id, ctx.node_id
        server = next(one for one in self._all.values() if one.process is process)
        attempt = self._rules.body_begins(server, run_id, step)
        planned, flow = self._rules.planned(run_id), self._rules.flow_of(run_id)
        self._durable.check_slots(flow, run_id, step)
        self._limits.check_call(flow, run_id, step)
        self._note(f"run {planned.number} ({flow}) step {step} attempt {attempt} begins", process)
        try:
            await self._work(ctx, planned, step, attempt)
        finally:
            self._rules.body_ended(server, run_id, step)

    async def _work(self, ctx: Any, planned: PlannedRun, step: str, attempt: int) -> None:
        random = Random(f"{self._plan.seed}:{planned.number}:{step}:{attempt}")
        is_own = ctx.run_id in self._rules.started
        for _ in range(random.choice([0, 0, 1, 3])):
            await ctx.emit("word ")
            await asyncio.sleep(random.random() * random.choice([0.01, 0.3]))
        await asyncio.sleep(random.random() * random.choice([0.0, 0.05, 1.0, 1.0, 30.0]))
        if is_own and planned.flow == "handled" and step == LAST_STEPS["handled"]:
            raise Invalid("This step always fails.")
        if is_own and planned.fails_once and step == LAST_STEPS[planned.flow] and ctx.run_id not in self._failed_once:
            self._failed_once.add(ctx.run_id)
            raise Invalid("This step fails the first time.")

    async def _live(self) -> None:
        SIMULATION.set(self)
        self._looking = self.loop.create_task(self._look_for_late_steps())
        actors: list[Coroutine[Any, Any, Any]] = [self._boot(number) for number in range(self._plan.processes)]
        actors += [self._faults.strike(fault) for fault in self._plan.faults]
        actors += [self._client(run) for run in self._plan.runs]
        actors += [self._answers.send(event) for event in self._plan.events]
        await asyncio.gather(*actors)
        self._healing = True
        self._note("healed")
        for number in range(self._plan.processes):
            await self._running(number)
        happened, since = 0, self.loop.time()
        while (open_runs := self._rules.open_runs) or not settled(self._rules):
            if (now := self._rules.row("SELECT count(*) FROM flow_run_events")[0]) > happened:
                happened, since = now, self.loop.time()
            if self.loop.time() > since + self._plan.standstill_seconds:
                seconds = self._plan.standstill_seconds
                self._fail(f"not over: {open_runs} runs are open and nothing happened for {seconds:g} s")
            await asyncio.sleep(1.0)
        self._looking.cancel()
        await asyncio.sleep(IDLE_SECONDS)
        self._rules.check_ends(deaths=self.outcome.deaths)
        self._rules.check_waits()
        self._durable.check_ends()
        self._limits.check_ends()
        NoticeRules(self._rules, self._receiver, self._answers).check_ends()
        self._rules.check_readers(self._readers)
        self._rules.check_memory()
        for task, (server, run_id) in self._waiters.items():
            if not task.done() and server.process.alive:
                self._fail(f"not woken: somebody waits for run {self._rules.started[run_id].number}, which is over")
        for server in filter(None, self._servers):
            await self.loop.create_task(self._close(server), context=context_of(server.process))

    async def _look_for_late_steps(self) -> None:
        """Look now and then, once the last fault is over for a while."""
        ends = [fault.at + fault.seconds for fault in self._plan.faults]
        await asyncio.sleep(max(ends, default=0.0) + LATE_SECONDS)
        while True:
            self._durable.check_waiting()
            await asyncio.sleep(5.0)

    @staticmethod
    async def _close(server: Server) -> None:
        if server.jobs is not None:
            await server.jobs.close()
        await server.engine.close()
        await server.database.close()

    # -- processes

    async def _running(self, number: int) -> Server:
        """The server of a number, started again where it died: once, whoever of several asks first."""
        async with self._booting.setdefault(number, asyncio.Lock()):
            server = self._servers[number]
            if server is None or not server.answers:
                return await self._boot(number)
            return server

    async def _boot(self, number: int) -> Server:
        """Start a process; it is tried again until its engine is open."""
        while True:
            process = Process(f"p{number}.{len(self._all)}", self._clocks[number])
            opening = self.loop.create_task(self._open(process, number), context=context_of(process))
            server: Server | None = await opening
            if server is not None:
                return server
            process.kill()
            self.loop.forget(process)
            await asyncio.sleep(0.5)

    async def _open(self, process: Process, number: int) -> Server | None:
        worker = Worker(self._locks(number))
        bus = EventBus()
        process.at_death.append(worker.close)
        database = Database(make_settings(self._folder))
        services = self._services(bus, database)
        engine = self._engine(services, worker, bus)
        if isinstance(engine, ClusterEngine):
            process.at_death.append(engine.died)
        server = self._all[worker.id] = Server(number, process, engine, worker, bus, database)
        server.disturbed += self._faults.around(self.loop.time())
        self._note("starts", process)
        try:
            await engine.open()
        except Unavailable as error:
            self._note(f"cannot start: {error}", process)
            return None
        if self._plan.notifies:
            self._open_jobs(services, server)
        server.serving = True
        self._servers[number] = server
        return server

    def _open_jobs(self, services: Services, server: Server) -> None:
        worker = Worker(self._locks(server.number))
        server.process.at_death.append(worker.close)
        server.jobs = make_jobs(services, server, worker, self._plan.lease_seconds, self._receiver)
        server.jobs.open()

    def _locks(self, number: int) -> Path:
        return self._folder / ("locks" if self._plan.same_machine else f"locks{number}")

    def _engine(self, services: Services, worker: Worker, bus: EventBus) -> EmbeddedBackend | ClusterEngine:
        # Sessions hold the lock of the database for a while.
        settings = DatabaseSettings(busy_timeout_seconds=LOCK_SECONDS if self._plan.durable else 0.05)
        if self._plan.distributed:
            store = SqliteDispatchStore(self._path, settings)
            return ClusterEngine(store, services, worker, self._broker, self._told)
        return EmbeddedBackend(SqliteRunStore(self._path, settings), services, worker, bus)

    def _services(self, bus: EventBus, database: Database) -> Services:
        by_id = {flow.key.flow_id: flow.definition for flow in self._flows.values()}

        async def definitions(key: RunKey) -> Flow:
            return by_id[key.flow_id]

        engine = EngineSettings(
            lease_seconds=self._plan.lease_seconds,
            max_concurrent_runs=self._plan.slots,
            max_concurrent_steps=2,
        )
        services = make_services(database, components=COMPONENTS, engine=engine)
        if not self._plan.durable:
            services = replace(services, slots=FreeSlots(), failure_handlers=NoFailureHandlers())
        else:
            services = replace(services, slots=Slots(database, ModelLimit()), chat_models=SimulatedModels())
        return replace(services, definitions=definitions, spaces=OneSpace(), bus=bus)

    def _kill(self, process: Process) -> None:
        self._note("dies", process)
        self.outcome.deaths += 1
        process.kill()
        self.loop.forget(process)

    # -- clients

    async def _client(self, planned: PlannedRun) -> None:
        """Start a run, wait for it, cancel or resume it; what a process that dies does not answer is asked again."""
        await asyncio.sleep(planned.at)
        for _ in range(MOST_REQUESTS):
            key = replace(self._flows[planned.flow].key, run_id=new_id())
            self._rules.started[key.run_id] = planned
            server = self._servers[planned.process]
            if server is not None and server.answers:
                request = RunRequest(key, RunInput(text=planned.text), priority=planned.priority)
                request = replace(request, deadline_seconds=planned.deadline_seconds)
                if await self._ask(server, server.engine.start(request)):
                    self._rules.acknowledged.append(key.run_id)
                    break
            await asyncio.sleep(1.0)
        else:
            self._fail(f"not started: run {planned.number}")
        assert server is not None
        self._note(f"run {planned.number} ({planned.flow}) is started", server.process)
        waiter = self.loop.create_task(self._until_over(server, key.run_id), context=context_of(server.process))
        self._waiters[waiter] = (server, key.run_id)
        if planned.watched:
            random = Random(f"{self._plan.seed}:{planned.number}:reader")
            reader = Reader(key, self.loop, self._servers, random, self._fail)
            self._readers[self.loop.create_task(reader.read())] = reader
        deciding = self.loop.create_task(self._answers.decide_all(planned, key)) if planned.decisions else None
        if planned.cancel_after is not None:
            await asyncio.sleep(planned.cancel_after)
            server = await self._running(planned.process)
            await self._ask(server, server.engine.cancel(key.run_id, key.tenant_id))
        pauses = planned.pauses
        if planned.pause_after is not None:
            pauses = (PlannedPause(planned.process, planned.pause_after, planned.paused_seconds), *pauses)
        await asyncio.gather(*(self._pause(planned, key, pause) for pause in pauses))
        if planned.fails_once:
            await self._resume(planned, key)
        if deciding is not None:
            await deciding

    async def _pause(self, planned: PlannedRun, key: RunKey, pause: PlannedPause) -> None:
        """Pause a run, and let it continue; the second is asked until it is answered."""
        await asyncio.sleep(pause.after)
        server = await self._running(pause.process)
        await self._ask(server, server.engine.pause(key))
        await asyncio.sleep(pause.seconds)
        for _ in range(MOST_REQUESTS):
            server = await self._running(pause.process)
            if await self._ask(server, server.engine.unpause(key)):
                self._note(f"run {planned.number} was paused and continues", server.process)
                return
            await asyncio.sleep(0.5)

    async def _resume(self, planned: PlannedRun, key: RunKey) -> None:
        for _ in range(MOST_REQUESTS):
            await asyncio.sleep(0.5)
            row = self._rules.row("SELECT status FROM flow_runs WHERE id = ?", key.run_id)
            if row is None or row[0] in {"completed", "cancelled"}:
                return
            if row[0] == "failed":
                server = await self._running(planned.process)
                if await self._ask(server, server.engine.resume(key)):
                    self._note(f"run {planned.number} is resumed", server.process)
                    return

    async def _ask(self, server: Server, question: Coroutine[Any, Any, Any]) -> bool:
        """Ask a process for something; whether it answered."""
        request = self.loop.create_task(question, context=context_of(server.process))
        latest = max(self.loop.time(), self._plan.last_event) + STANDSTILL_SECONDS
        while not request.done() and server.process.alive:
            await asyncio.wait([request], timeout=0.2)
            if self.loop.time() > latest:
                self._fail(f"not answered: {server.process.name} says nothing for {STANDSTILL_SECONDS:g} s")
        error = request.exception() if request.done() else None
        if error is not None and server.process.alive and not isinstance(error, Unavailable):
            self._fail(f"{type(error).__name__}: {error}")
        return request.done() and error is None

    async def _until_over(self, server: Server, run_id: str) -> None:
        while True:
            try:
                await server.engine.wait(run_id)
            except Unavailable:
                await asyncio.sleep(0.5)
            else:
                return

    def _unhandled(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Violation):
            self._record(f"unhandled: {context.get('message')}: {error!r}")

    def _fail(self, violation: str) -> None:
        """Something happened that never may."""
        self._record(violation)
        raise Violation(violation)

    def _record(self, violation: str) -> None:
        self._note(f"VIOLATION {violation}")
        self._violations.append(violation)
        self.loop.stop()

    def _note(self, text: str, process: Process = WORLD) -> None:
        """A line of the trace."""
        self.outcome.trace.append(f"{self.loop.time():9.3f} {process.name:8} {text}")
