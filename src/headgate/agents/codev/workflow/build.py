"""The graph of a session (DD-001, DD-010, DD-017, DD-033). Imports LangGraph: load it through one named function only.

    clarify -> ask_clarification? -> discover <-> discover_tools -> check_credentials <-> ask_credentials?
    -> plan -> approve_plan? -> patch <-> patch_tools -> test (once a trial) -> converge
    -> check_credentials (one is missing) | plan (not yet) | read_back -> review -> keep | plan (otherwise)

A node whose model call fails for the model's own key leads to ask_model_key, which leads back to it. A session that
stopped for its budget continues behind `stop` where it was, once `stop_code` is reset (`sessions.work`).

Each model call, each message's tool calls and each trial is its own step, and so a checkpoint. A node that waits
for a person does nothing else, since LangGraph makes it again when the answer is there.
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeAlias, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import JsonValue

from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState, PhaseName
from headgate.agents.codev.workflow import routing
from headgate.agents.codev.workflow.nodes import (
    clarify,
    converge,
    credentials,
    discover,
    ending,
    model_key,
    patch,
    plan,
    review,
)
from headgate.agents.codev.workflow.nodes import trials as testing
from headgate.agents.codev.workflow.step import OVER_BUDGET, BudgetUsedUp, Update, emit_phase
from headgate.graph.json_values import made_plain

SessionGraph: TypeAlias = CompiledStateGraph[AgentState, Working, AgentState, AgentState]
Work = Callable[[AgentState, Working], Awaitable[Update]]
Ask = Callable[[AgentState], dict[str, Any]]
Take = Callable[[AgentState, dict[str, Any]], Update]

WORK: dict[str, Work] = {
    "clarify": clarify.clarify,
    "discover": discover.discover,
    "discover_tools": discover.discover_tools,
    "check_credentials": credentials.check_credentials,
    "plan": plan.plan,
    "patch": patch.patch,
    "patch_tools": patch.patch_tools,
    "test": testing.test,
    "converge": converge.converge,
    "read_back": review.read_back,
    "keep": ending.keep,
    "stop": ending.stop,
}
"""Nodes that work."""
WAITS: dict[str, tuple[PhaseName | None, Ask, Take]] = {
    "ask_clarification": ("clarify", clarify.ask_clarification, clarify.take_clarification),
    "ask_credentials": ("check_credentials", credentials.ask_credentials, credentials.take_credentials),
    "approve_plan": ("approve_plan", plan.ask_approval, plan.take_approval),
    "review": ("review", review.ask_review, review.take_review),
    "ask_model_key": (None, model_key.ask_model_key, model_key.take_model_key),
}
"""Nodes that wait for a user; without a phase they wait in the one that the session is in."""
ASKING = ("clarify", "discover", "plan", "patch", "converge")
"""Nodes that call the model."""
ROUTES: dict[str, tuple[Callable[[AgentState], str], tuple[str, ...]]] = {
    "clarify": (routing.after_clarify, ("ask_clarification", "discover", "stop")),
    "discover": (routing.after_discover, ("discover_tools", "discover", "check_credentials", "stop")),
    "check_credentials": (routing.after_credentials, ("ask_credentials", "plan", "test")),
    "plan": (routing.after_plan, ("plan", "approve_plan", "patch", "stop")),
    "approve_plan": (routing.after_approval, ("patch", "plan", "stop")),
    "patch": (routing.after_patch, ("patch_tools", "patch", "test", "discover", "stop")),
    "patch_tools": (routing.after_patch_tools, ("patch", "discover", "stop")),
    "test": (routing.after_test, ("test", "converge", "discover", "stop")),
    "converge": (routing.after_converge, ("converge", "check_credentials", "plan", "read_back", "stop")),
    "read_back": (routing.after_read_back, ("review", "discover", "stop")),
    "review": (routing.after_review, ("keep", "plan", "stop")),
    "ask_model_key": (routing.after_model_key, (*ASKING, "stop")),
    "stop": (routing.after_stop, ("end", *(name for name in (*WORK, *WAITS) if name not in {"stop", "keep"}))),
}
"""Return the route after a node, and every possible one."""
EDGES = (
    (START, "clarify"),
    ("ask_clarification", "discover"),
    ("ask_credentials", "check_credentials"),
    ("discover_tools", "discover"),
    ("keep", END),
)
"""Where there is one way only."""


def build_graph(checkpointer: BaseCheckpointSaver[Any]) -> SessionGraph:
    """The graph, for every session of a process; what a session works with is its context."""
    graph = StateGraph(AgentState, context_schema=Working)
    for name, work in WORK.items():
        graph.add_node(name, _working(name, work))
    for name, (phase, ask, take) in WAITS.items():
        graph.add_node(name, _waiting(phase, ask, take))
    for name, (route, ways) in ROUTES.items():
        ends: dict[Hashable, str] = {way: END if way == "end" else way for way in ways}
        if name in ASKING:
            graph.add_conditional_edges(name, _or_key(route), ends | {"ask_model_key": "ask_model_key"})
        else:
            graph.add_conditional_edges(name, route, ends)
    for before, after in EDGES:
        graph.add_edge(before, after)
    return graph.compile(checkpointer=checkpointer)


def _or_key(route: Callable[[AgentState], str]) -> Callable[[AgentState], str]:
    def routed(state: AgentState) -> str:
        return "ask_model_key" if state.get("model_key") else route(state)

    return routed


def _working(name: str, work: Work) -> Any:  # noqa: ANN401 - LangGraph has no public type for it
    async def node(state: AgentState, runtime: Runtime[Working]) -> Update:
        try:
            update = await work(state, runtime.context)
        except BudgetUsedUp:
            return _plain({**OVER_BUDGET, "continue_at": name, "model_key": None})
        except model_key.KEY_ERRORS as error:
            if name not in ASKING:
                raise
            return _plain(model_key.waiting(runtime.context, error, name))
        if name in ASKING:
            update = {"model_key": None} | update
        if update.get("stop_code") in routing.CONTINUES and name != "stop":
            after = cast("AgentState", {**state, **update, "stop_code": None})
            update |= {"continue_at": ROUTES[name][0](after)}
        return _plain(update)

    return node


def _waiting(phase: PhaseName | None, ask: Ask, take: Take) -> Any:  # noqa: ANN401
    async def node(state: AgentState, runtime: Runtime[Working]) -> Update:  # not in a thread: telling needs the loop
        if phase is not None:
            emit_phase(state, runtime.context, phase)
        return _plain(take(state, interrupt(ask(state))))

    return node


def _plain(update: Update) -> Update:
    """What models and places say is kept as every database keeps it."""
    return cast("Update", made_plain(cast("JsonValue", update)))
