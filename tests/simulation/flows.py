"""The flows of a simulation, and the component whose work is the simulation's."""

import contextvars
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from headgate.components.approval import Approval
from headgate.components.clock import Wait
from headgate.components.iteration import ForEach
from headgate.components.sent_events import WaitForEvent
from headgate.components.subflows import Loop, RunFlow
from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.accounts.tables import User
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.graph.model import Budget, Concurrency, Flow, FlowSettings, StepPolicy
from headgate.sdk import Component, Model, RunContext, Text, field, output
from headgate.sdk.values import Recording, Transcript
from tests.support.engine import NoModels, StoredDefinitions, make_flow, publish, store_flow

WAIT_SECONDS = 40.0
"""Of the steps `w`: longer than a worker waits, so that they are suspended."""
ANSWER_SECONDS = 60.0
"""Timeout of approvals and of waits for events."""
ITEMS = 6
ROUNDS = 3
PARALLEL = 2
MOST_RUNS = 2
"""Of `limited` at the same time."""
MOST_STEPS = 1
"""Of the steps of `keyed` at the same time."""
NEEDED = 2
"""Users who must approve."""
MODEL = Model(provider="simulated", name="speech")
MOST_CALLS = 1
"""Steps of all flows that may call the model at the same time."""
MOST_SENDING = 1
"""Steps of all flows with the key of the connection that may run at the same time."""
RUN_TOKENS = 1
"""Budget of a run of `spent`, which would make two calls of a token each, at the same time."""
DAY_TOKENS = 5
"""Budget of `daily` per day, of which each run makes two calls."""
BUDGETS: Mapping[str, int] = {"spent": RUN_TOKENS, "daily": DAY_TOKENS}
PAID_STEPS = frozenset({"m", "n"})
"""Steps that call the model."""
SHARED_LIMITS: Mapping[str, tuple[frozenset[tuple[str, str]], int]] = {
    "the model": (frozenset({("asked", "m"), ("mailed", "m")}), MOST_CALLS),
    "the connection": (frozenset({("posted", "s"), ("mailed", "s")}), MOST_SENDING),
}
"""What several flows share: their steps that use it, and how many may at the same time."""
USERS = ("user-0", "user-1", "user-2", "user-3")
ASSIGNEES = USERS[:2]
"""Of the approvals of `reminded`; the others may decide once it is escalated."""
REMINDED_SECONDS = 120.0
"""Timeout of these approvals."""
NOTICES = (("asked", 0.0), ("reminder", 5.0), ("reminder", 80.0), ("escalated", 40.0))
"""Their notices: kind, and seconds after the approval is asked for."""
ESCALATED_SECONDS = 40.0
RECEIVER_URL = "https://receiver.example/notices"


class Simulation(Protocol):
    """What executes the steps."""

    async def execute(self, ctx: RunContext) -> None:
        """Execute a step."""
        ...


SIMULATION: "contextvars.ContextVar[Simulation]" = contextvars.ContextVar("simulation")


class Work(Component):
    """A step whose work is the simulation's."""

    effect = True
    parts: list[str] = field(default_factory=list, main=True, many=True)

    @output()
    async def text(self) -> Text:
        await SIMULATION.get().execute(self.ctx)
        return "+".join(self.parts) or self.ctx.input.text


_CALLER: "contextvars.ContextVar[RunContext]" = contextvars.ContextVar("caller")


class Asked(Component):
    """A step that calls a model, whose answer takes as long as the work of other steps."""

    effect = True
    model: ClassVar[Model] = MODEL
    parts: list[str] = field(default_factory=list, main=True, many=True)

    @output()
    async def text(self) -> Text:
        _CALLER.set(self.ctx)
        place = f"{self.ctx.run_id}:{self.ctx.node_id}"
        return (await self.ctx.transcribe(self.model, Recording(place, place.encode(), "audio/wav"))).text


class Paid(Asked):
    """A step that calls a model which any number of steps may call at the same time."""

    model: ClassVar[Model] = Model(provider="simulated", name="unlimited")


class SimulatedModels(NoModels):
    """The model that steps call."""

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        """Answer after a while."""
        await SIMULATION.get().execute(_CALLER.get())
        return Transcript("an answer")


class ModelLimit:
    """The limit of the model (`ModelLimits`)."""

    async def most(self, origin: Origin, model: Model) -> int | None:
        """Return how many steps may call it at the same time."""
        return MOST_CALLS if model == MODEL else None


COMPONENTS: tuple[type[Component], ...] = (Work, Asked, Paid, Wait, Approval, WaitForEvent, RunFlow, ForEach, Loop)
_CHAIN = ["a.text -> b.parts", "b.text -> c.parts", "c.text -> d.parts"]
_DIAMOND = ["a.text -> b.parts", "a.text -> c.parts", "b.text -> d.parts", "c.text -> d.parts"]
_HOURS = ANSWER_SECONDS / 3600


def _calling(type_: str, port: str, result: str, **params: object) -> Flow:
    edges = [f"a.text -> call.{port}", f"call.{result} -> b.parts"]
    return make_flow({"a": "Work", "call": type_, "b": "Work"}, edges, call={"flow": "Body", **params})


def _set(flow: Flow, policy: StepPolicy | None = None, name: str = "", **settings: object) -> Flow:
    nodes = tuple(node.model_copy(update={"policy": policy or node.policy}) for node in flow.nodes)
    changes = {"nodes": nodes, "settings": FlowSettings(**settings), "name": name or flow.name}
    return flow.model_copy(update=changes)


def _with_policy(flow: Flow, step: str, policy: StepPolicy) -> Flow:
    nodes = tuple(node.model_copy(update={"policy": policy}) if node.id == step else node for node in flow.nodes)
    return flow.model_copy(update={"nodes": nodes})


def _mail(user: str) -> str:
    return f"{user}@headgate.example"


_CONNECTION = StepPolicy(concurrency=Concurrency(key="smtp", max=MOST_SENDING))
_BRANCHES = ["a.text -> p.value", "p.approve -> b.parts", "p.reject -> c.parts", "p.timeout -> d.parts"]
_ASKING = {"a": "Work", "p": "Approval", "b": "Work", "c": "Work", "d": "Work"}

PUBLISHED: Mapping[str, Flow] = {
    "body": _set(make_flow({"a": "Work"}), name="Body"),
    "handler": _set(make_flow({"a": "Work"}), name="Handler"),
}
"""Flows that others start."""
DEFINITIONS: Mapping[str, Flow] = {
    "single": make_flow({"a": "Work"}),
    "chain": make_flow({"a": "Work", "b": "Work", "c": "Work", "d": "Work"}, _CHAIN),
    "diamond": make_flow({"a": "Work", "b": "Work", "c": "Work", "d": "Work"}, _DIAMOND),
    "fork": make_flow({"a": "Work", "b": "Work", "c": "Work"}, ["a.text -> b.parts", "a.text -> c.parts"]),
    "waiting": make_flow(
        {"a": "Work", "w": "Wait", "b": "Work", "c": "Work"},
        ["a.text -> w.value", "a.text -> b.parts", "w.value -> c.parts"],
        w={"seconds": WAIT_SECONDS},
    ),
    "approval": make_flow(
        _ASKING,
        _BRANCHES,
        p={"needed": NEEDED, "timeout_hours": _HOURS},
    ),
    "reminded": make_flow(
        _ASKING,
        _BRANCHES,
        p={
            "needed": NEEDED,
            "timeout_hours": REMINDED_SECONDS / 3600,
            "assignees": [_mail(user) for user in ASSIGNEES],
            "reminders": [seconds / 3600 for kind, seconds in NOTICES if kind == "reminder"],
            "escalate_hours": ESCALATED_SECONDS / 3600,
            "escalate_to": [_mail(user) for user in USERS if user not in ASSIGNEES],
            "notify_url": RECEIVER_URL,
        },
    ),
    "asked": make_flow({"a": "Work", "m": "Asked", "b": "Work"}, ["a.text -> m.parts", "m.text -> b.parts"]),
    "posted": _with_policy(make_flow({"a": "Work", "s": "Work"}, ["a.text -> s.parts"]), "s", _CONNECTION),
    "mailed": _with_policy(make_flow({"m": "Asked", "s": "Work"}, ["m.text -> s.parts"]), "s", _CONNECTION),
    "spent": _set(
        make_flow(
            {"a": "Work", "m": "Paid", "n": "Paid"},
            ["a.text -> m.parts", "a.text -> n.parts"],
        ),
        run_budget=Budget(tokens=RUN_TOKENS),
    ),
    "daily": _set(
        make_flow({"m": "Paid", "n": "Paid", "b": "Work"}, ["m.text -> n.parts", "n.text -> b.parts"]),
        daily_budget=Budget(tokens=DAY_TOKENS),
    ),
    "event": make_flow(
        {"a": "Work", "e": "WaitForEvent", "b": "Work", "c": "Work"},
        ["a.text -> e.correlation", "a.text -> e.value", "e.data -> b.parts", "e.timeout -> c.parts"],
        e={"event": "paid", "timeout_hours": _HOURS},
    ),
    "limited": _set(make_flow({"a": "Work", "b": "Work"}, ["a.text -> b.parts"]), max_concurrent_runs=MOST_RUNS),
    "keyed": _set(
        make_flow({"a": "Work", "b": "Work"}, ["a.text -> b.parts"]),
        StepPolicy(concurrency=Concurrency(key="crm", max=MOST_STEPS)),
    ),
    "handled": _set(make_flow({"a": "Work", "b": "Work"}, ["a.text -> b.parts"]), error_flow="Handler"),
    "calls": _calling("RunFlow", "text", "text"),
    "each": _calling("ForEach", "items", "text", parallel=PARALLEL),
    "loop": _calling("Loop", "value", "text", until="text == 'over'", most=ROUNDS),
    **PUBLISHED,
}
LAST_STEPS = {"single": "a", "chain": "d", "diamond": "d", "fork": "c", "waiting": "b", "handled": "b"}
"""Steps that fail: that of `waiting` fails while the other branch waits."""
CHILDREN = {"calls": 1, "each": ITEMS, "loop": ROUNDS}
"""Flow to the runs that its step `call` starts."""


@dataclass(frozen=True)
class StoredFlow:
    """A frozen version of a flow."""

    key: RunKey
    definition: Flow


async def store_flows(database: Database) -> dict[str, StoredFlow]:
    """Store users, then store and freeze every flow, those that others start first."""
    async with database.writing() as session:
        session.add_all(User(id=user, tenant_id=DEFAULT_TENANT_ID, name=user, email=_mail(user)) for user in USERS)
    first = {name: await publish(database, await _stored(database, flow)) for name, flow in PUBLISHED.items()}
    others = {name: flow for name, flow in DEFINITIONS.items() if name not in first}
    keys = first | {name: await _stored(database, flow) for name, flow in others.items()}
    read = StoredDefinitions(database)
    return {name: StoredFlow(key, await read(key)) for name, key in keys.items()}


async def _stored(database: Database, flow: Flow) -> RunKey:
    return await store_flow(database, flow, COMPONENTS)
