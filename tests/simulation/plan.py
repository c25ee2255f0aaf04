"""What happens to the engine in one simulation, drawn from its seed: which runs are started, and what goes wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

FaultKind = Literal[
    "crash",
    "crash at statement",
    "stop",
    "disk full",
    "locked",
    "clock",
    "queue away",
    "queue lost",
    "messages odd",
]
EMBEDDED_FAULTS: tuple[FaultKind, ...] = ("crash", "crash at statement", "stop", "disk full", "locked", "clock")
QUEUE_FAULTS: tuple[FaultKind, ...] = ("queue away", "queue lost", "messages odd")
CLOCK_JUMPS_SECONDS = (-3600.0, -5.0, 5.0, 3600.0)
STANDSTILL_SECONDS = 300.0
FLOWS = ("single", "chain", "diamond", "fork")
WAITING = 0.1
"""Share of the runs whose flow waits long."""
PAUSED = 0.15
"""Share of the runs that are paused for a while."""
DURABLE = 0.5
"""Share of the plans with runs that wait for users, events, slots and other runs."""
DURABLE_RUNS = 0.7
"""Share of such runs in them."""
SHARING = 0.5
"""Share of the durable plans without other limits whose runs share a model and a connection, or have notices."""
SHARING_RUNS = 0.6
"""Share of such runs in them."""
SHARING_FLOWS = ("reminded", "asked", "posted", "mailed")
DURABLE_FLOWS = ("approval", "event", "limited", "keyed", "handled", "calls", "each", "loop")
BOUNDED = 0.3
"""Share of the other plans whose runs have deadlines and budgets, and are paused by several operators."""
BOUNDED_RUNS = 0.7
"""Share of such runs in them."""
BOUNDED_FLOWS = ("spent", "daily", "daily", "waiting", "chain", "fork", "calls", "each")
DEADLINES_SECONDS = (0.5, 3.0, 10.0, 39.5, 41.0, 90.0)
TOPICS = 3
USERS = 4


@dataclass(frozen=True)
class PlannedDecision:
    """A user's decision on the approval of a run."""

    user: int
    decision: Literal["approve", "reject"]
    after: float
    """Seconds after the approval is asked for."""
    process: int


@dataclass(frozen=True)
class PlannedEvent:
    """An event that a client sends, to several processes at once."""

    number: int
    topic: str
    deliver: Literal["one", "all"]
    at: float
    processes: tuple[int, ...]
    keep_seconds: float


@dataclass(frozen=True)
class PlannedPause:
    """An operator pauses a run and continues it, both through one process."""

    process: int
    after: float
    """Seconds after the start of the run."""
    seconds: float


@dataclass(frozen=True)
class PlannedRun:
    """A run that a client starts."""

    number: int
    process: int
    """Which process is asked."""
    flow: str
    at: float
    fails_once: bool = False
    """Whether its last step fails the first time; the client then resumes the run."""
    watched: bool = False
    """Whether a client watches its events."""
    cancel_after: float | None = None
    """Seconds after its start at which the client cancels it."""
    pause_after: float | None = None
    """Seconds after its start at which the client pauses it."""
    paused_seconds: float = 0.0
    """How long it is paused."""
    topic: str = ""
    """Correlation of the event that it waits for."""
    priority: int = 0
    decisions: tuple[PlannedDecision, ...] = ()
    pauses: tuple[PlannedPause, ...] = ()
    """Of further operators."""
    deadline_seconds: float | None = None

    @property
    def is_paused(self) -> bool:
        """Whether anybody pauses it."""
        return self.pause_after is not None or bool(self.pauses)

    @property
    def text(self) -> str:
        """Input of the run."""
        return "\n".join("123456") if self.flow == "each" else self.topic or "go"


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong, in seconds of the simulation."""

    kind: FaultKind
    at: float
    seconds: float = 0.0
    """How long it lasts; until a process that died is started again."""
    process: int = 0
    statement: int = 0
    """For `crash at statement`: after how many further statements."""
    after: bool = False
    """Whether that statement is still executed."""


@dataclass(frozen=True)
class Plan:
    """One simulation."""

    seed: int
    processes: int
    same_machine: bool
    """Whether the processes see one another's locks; else leases alone decide."""
    lease_seconds: float
    slots: int
    distributed: bool
    """Whether runs are worked on by worker processes behind a message queue."""
    runs: tuple[PlannedRun, ...]
    faults: tuple[Fault, ...]
    durable: bool = False
    """Whether runs wait for users, events, slots and other runs, which are in sessions of the database."""
    events: tuple[PlannedEvent, ...] = ()

    @property
    def last_event(self) -> float:
        """When the last thing of the plan has happened."""
        moments = [run.at for run in self.runs] + [fault.at + fault.seconds for fault in self.faults]
        return max(moments + [event.at for event in self.events])

    @property
    def notifies(self) -> bool:
        """Whether approvals have notices."""
        return any(run.flow == "reminded" for run in self.runs)

    @property
    def is_bounded(self) -> bool:
        """Whether runs have deadlines or budgets."""
        return any(run.deadline_seconds is not None or run.flow in {"spent", "daily"} for run in self.runs)

    @property
    def sets_clocks(self) -> bool:
        """Whether the clock of a machine is wrong for a while."""
        return any(fault.kind == "clock" for fault in self.faults)

    @property
    def standstill_seconds(self) -> float:
        """Seconds in which something must happen in some run, as long as one is not over.

        A run that is sent or suspended while the clock of its machine is ahead may wait until that time comes.
        """
        return STANDSTILL_SECONDS + (max(CLOCK_JUMPS_SECONDS) if self.sets_clocks else 0.0)

    def smaller(self) -> Iterator["Plan"]:
        """The plan with one thing left out, for finding the smallest that still fails."""
        for fault in self.faults:
            yield replace(self, faults=tuple(one for one in self.faults if one is not fault))
        for run in self.runs:
            if len(self.runs) > 1:
                yield replace(self, runs=tuple(one for one in self.runs if one is not run))
        for event in self.events:
            yield replace(self, events=tuple(one for one in self.events if one is not event))

    def __str__(self) -> str:
        kind = "distributed" if self.distributed else "embedded"
        where = "one machine" if self.same_machine else "separate machines"
        size = f"{self.processes} processes on {where}, {self.slots} slots each, lease {self.lease_seconds:g} s"
        lines = [f"seed {self.seed}, {kind}: {size}"]
        lines += [f"  {run}" for run in self.runs]
        lines += [f"  {event}" for event in self.events]
        lines += [f"  {fault}" for fault in self.faults]
        return "\n".join(lines)


def draw(seed: int, *, plain: bool = False) -> Plan:
    """The plan of a seed; a plain one has no runs that wait for users, events, slots and other runs."""
    random = Random(f"{seed}:plan")
    processes = random.choice([1, 1, 2, 3])
    span = random.choice([3.0, 10.0, 40.0])
    quiet, distributed = random.random() < 0.3, random.random() < 0.35
    kinds = EMBEDDED_FAULTS + QUEUE_FAULTS * (2 * distributed)
    faults = [] if quiet else [_fault(random, kinds, processes, span) for _ in range(random.randint(1, 6))]
    plan = Plan(
        seed=seed,
        processes=processes,
        same_machine=random.random() < 0.5,
        lease_seconds=random.choice([1.0, 2.0, 8.0]),
        slots=random.choice([1, 2, 4, 16]),
        distributed=distributed,
        runs=tuple(
            _paused(seed, _waiting(seed, _run(random, number, processes, span)))
            for number in range(random.randint(1, 24))
        ),
        faults=tuple(faults),
    )
    return plan if plain else _bounded(_sharing(_durable(plan, span)))


def _durable(plan: Plan, span: float) -> Plan:
    """The plan, or one with runs that wait for more than time: drawn apart, so that other plans stay what they are."""
    random = Random(f"{plan.seed}:durable")
    if random.random() >= DURABLE:
        return plan
    flows = random.sample(DURABLE_FLOWS, random.choice((1, 2, 3)))
    runs = tuple(_durable_run(random, run, flows, plan.processes) for run in plan.runs)
    topics = sorted({run.topic for run in runs if run.topic})
    events = [_event(random, topic, plan.processes, span) for topic in topics for _ in range(random.randint(1, 4))]
    numbered = tuple(replace(event, number=number) for number, event in enumerate(events))
    # Sessions hold the lock of the database for a while: a lease lasts longer than anybody waits for it.
    return replace(plan, durable=True, lease_seconds=8.0, runs=runs, events=numbered)


def _bounded(plan: Plan) -> Plan:
    """The plan, or one whose runs have deadlines, budgets and several operators: drawn apart as well."""
    random = Random(f"{plan.seed}:bounded")
    if plan.durable or random.random() >= BOUNDED:
        return plan
    runs = tuple(_bounded_run(random, run, plan.processes) for run in plan.runs)
    return replace(plan, durable=True, lease_seconds=8.0, runs=runs)


def _bounded_run(random: Random, run: PlannedRun, processes: int) -> PlannedRun:
    if random.random() >= BOUNDED_RUNS:
        return run
    deadline = random.choice(DEADLINES_SECONDS) if random.random() < 0.5 else None
    pauses = tuple(
        PlannedPause(random.randrange(processes), random.random() * random.choice((1.0, 45.0)), seconds)
        for seconds in random.choices((0.0, 0.2, 3.0, 40.0), k=random.choice((0, 0, 1, 3)))
    )
    return replace(run, flow=random.choice(BOUNDED_FLOWS), fails_once=False, deadline_seconds=deadline, pauses=pauses)


def _sharing(plan: Plan) -> Plan:
    """The plan, or one with runs that share what is limited, or whose approvals have notices: drawn apart as well."""
    random = Random(f"{plan.seed}:sharing")
    is_limited = any(run.flow in {"limited", "keyed"} for run in plan.runs)
    if not plan.durable or is_limited or random.random() >= SHARING:
        return plan
    flows = random.sample(SHARING_FLOWS, random.choice((1, 2, 3)))
    return replace(plan, runs=tuple(_sharing_run(random, run, flows, plan.processes) for run in plan.runs))


def _sharing_run(random: Random, run: PlannedRun, flows: Sequence[str], processes: int) -> PlannedRun:
    if random.random() >= SHARING_RUNS:
        return run
    flow, priority = random.choice(flows), random.choice((0, 0, 5))
    decisions: tuple[PlannedDecision, ...] = ()
    if flow == "reminded":
        moments = (0.0, 0.3, 4.9, 30.0, 39.9, 40.1, 79.9, 100.0, 119.9)
        decisions = tuple(_decision(random, moments, processes) for _ in range(random.randint(0, 6)))
    return replace(run, flow=flow, fails_once=False, priority=priority, topic="", decisions=decisions)


def _durable_run(random: Random, run: PlannedRun, flows: Sequence[str], processes: int) -> PlannedRun:
    if random.random() >= DURABLE_RUNS:
        return run
    run = replace(run, flow=random.choice(flows), fails_once=False, priority=random.choice((0, 0, 5)))
    if run.flow == "event":
        return replace(run, topic=f"order-{random.randrange(TOPICS)}")
    if run.flow != "approval":
        return run
    moments = (0.0, 0.0, 0.3, 10.0, 55.0, 59.9)
    decisions = tuple(_decision(random, moments, processes) for _ in range(random.randint(0, 6)))
    return replace(run, decisions=decisions)


def _decision(random: Random, moments: Sequence[float], processes: int) -> PlannedDecision:
    return PlannedDecision(
        user=random.randrange(USERS),
        decision=random.choice(("approve", "approve", "approve", "reject")),
        after=random.choice(moments),
        process=random.randrange(processes),
    )


def _event(random: Random, topic: str, processes: int, span: float) -> PlannedEvent:
    return PlannedEvent(
        number=0,
        topic=topic,
        deliver=random.choice(("one", "all")),
        at=random.random() * (span + 30),
        processes=tuple(random.randrange(processes) for _ in range(random.choice((1, 1, 2, 4)))),
        keep_seconds=random.choice((0.0, 20.0, 600.0)),
    )


def _run(random: Random, number: int, processes: int, span: float) -> PlannedRun:
    kind = random.random()
    return PlannedRun(
        number=number,
        process=random.randrange(processes),
        flow=random.choice(FLOWS),
        at=random.random() * span,
        fails_once=kind < 0.1,
        watched=random.random() < 0.3,
        cancel_after=random.random() * 5 if 0.1 <= kind < 0.2 else None,
    )


def _waiting(seed: int, run: PlannedRun) -> PlannedRun:
    """The run, or one of a flow that waits long: drawn apart, so that the other runs of a seed stay what they are."""
    waits = Random(f"{seed}:{run.number}:waiting").random() < WAITING
    return replace(run, flow="waiting") if waits else run


def _paused(seed: int, run: PlannedRun) -> PlannedRun:
    """The run, or one that is paused for a while: drawn apart for the same reason."""
    random = Random(f"{seed}:{run.number}:paused")
    if random.random() >= PAUSED or run.fails_once or run.cancel_after is not None:
        return run
    return replace(run, pause_after=random.random() * 3, paused_seconds=random.choice((0.0, 0.2, 3.0, 40.0)))


def _fault(random: Random, kinds: Sequence[FaultKind], processes: int, span: float) -> Fault:
    kind = random.choice(kinds)
    lengths = (3.0, 30.0, 120.0) if kind in QUEUE_FAULTS else (0.05, 0.5, 3.0, 12.0, 100.0)
    return Fault(
        kind=kind,
        at=random.random() * span,
        seconds=random.choice(lengths) * random.random(),
        process=random.randrange(processes),
        statement=random.randint(1, 60),
        after=random.random() < 0.5,
    )
