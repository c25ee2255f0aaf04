"""Runs one session until it pauses. Imports LangGraph: loaded when the first session runs."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from anyio import CancelScope
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot
from pydantic import JsonValue

from headgate.agents.codev.domain import Workplace
from headgate.agents.codev.errors import LeaseLost
from headgate.agents.codev.ports import Reasoning, Working
from headgate.agents.codev.reasoning.chooser import MissingReasoning
from headgate.agents.codev.schemas import InterruptPayload
from headgate.agents.codev.sessions.acting import act_again
from headgate.agents.codev.sessions.checkpoints import Checkpoints, checkpoint_errors, config_of
from headgate.agents.codev.sessions.event_log import EventRecorder
from headgate.agents.codev.sessions.places import Surroundings
from headgate.agents.codev.sessions.repository import COMPLETED, PENDING, STOPPED, mine
from headgate.agents.codev.sessions.tracing import traced
from headgate.agents.codev.tables import SessionRow
from headgate.agents.codev.workflow.build import SessionGraph, build_graph
from headgate.agents.codev.workflow.nodes.model_key import KEY_ERRORS
from headgate.agents.codev.workflow.opening import initial_state
from headgate.agents.codev.writing.journal import Journal
from headgate.features.access.principal import Principal, within
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

MOST_STEPS = 100_000
"""LangGraph's own limit. Iterations, tool calls and tokens have separate limits with descriptive errors."""

THINNED_AFTER = 5
"""Steps between deletions of old checkpoints: each contains the complete phase, so a long one would fill the disk."""


@dataclass(frozen=True, slots=True)
class Rest:
    """How a session pauses."""

    status: str
    interrupt: InterruptPayload | None = None
    stop_reason: str = ""
    stop_code: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """One session in the hands of this process."""

    settings: Settings
    database: Database
    box: SecretBox
    around: Surroundings
    checkpoints: Checkpoints
    row: SessionRow
    emitter: EventRecorder

    async def execute(self) -> Rest:
        """Continue from the last checkpoint until it pauses. Raises its error."""
        row, own = self.row, self.settings.codev
        principal = await act_again(self.database, row, auto_login=self.settings.server.auto_login)
        place = self.around.place(row.domain)
        workplace = await place.domain.open(principal, row.space_id, row.instance_id)
        try:
            test_sets = place.test_sets(principal) if place.test_sets is not None else None
            working = Working(
                session_id=row.id,
                workplace=workplace,
                reasoning=await self._reasoning(principal),
                journal=Journal(
                    self.database, self.box, row.id, workplace, self.emitter.record, mine(self.emitter.job)
                ),
                patterns=self.around.patterns(principal, row.space_id, row.domain, row.id),
                emit=self.emitter.emit,
                test_sets=test_sets,
                skip_clarification=bool(row.options.get("skip_clarification")) or own.skip_clarification,
                max_tool_calls=own.max_tool_calls,
                domain=row.domain,
            )
            with traced(self.settings.codev, self.settings.outgoing), checkpoint_errors():
                return await self._play(working, principal)
        finally:
            with CancelScope(shield=True):
                await workplace.close()

    async def _reasoning(self, principal: Principal) -> Reasoning:
        """Return the model; if its provider is no longer ready, one that raises the reason."""
        row = self.row
        try:
            return await self.around.reasoning.choose(
                within(principal, row.space_id), row.model or None, session_id=row.id
            )
        except KEY_ERRORS as error:
            return MissingReasoning(row.model, error)

    async def _play(self, working: Working, principal: Principal) -> Rest:
        saver = await self.checkpoints.saver()
        graph = _graph(saver)
        config: Any = config_of(self.row.id) | {"recursion_limit": MOST_STEPS}
        snapshot = await graph.aget_state(config)
        begun = snapshot.created_at is not None
        pending = _interrupts(snapshot)
        answer = self.row.answer
        given: Any = None if begun else self._beginning()
        if pending:
            if answer is None or answer.get("interrupt_id") not in pending:
                return _resting(snapshot)
            given = Command(resume={answer["interrupt_id"]: answer["response"]})
        if self.row.options.get("continued", 0) > snapshot.values.get("continued", 0) and not snapshot.next:
            config, snapshot = await self._continued(graph, config)
        if not begun or snapshot.next:
            await self._steps(graph, given, config, working, principal)
        return _resting(await graph.aget_state(config))

    async def _continued(self, graph: Any, config: Any) -> tuple[Any, StateSnapshot]:  # noqa: ANN401 - LangGraph's
        """Clear the stop: it continues from there, with the current budget."""
        options = self.row.options
        values = {"stop_code": None, "stop_reason": None, "model_key": None, "continued": options["continued"]}
        await graph.aupdate_state(config, values | {"token_budget": options["token_budget"]}, as_node="stop")
        return config, await graph.aget_state(config)

    async def _steps(
        self,
        graph: Any,  # noqa: ANN401 - LangGraph's
        given: Any,  # noqa: ANN401
        config: Any,  # noqa: ANN401
        working: Working,
        principal: Principal,
    ) -> None:
        """Run the graph. Each step is in a checkpoint before the next begins."""
        states = graph.astream(given, config, context=working, stream_mode="values", durability="sync")
        steps = 0
        async for values in states:
            self._note(values, working.workplace)
            await self.emitter.write()
            steps += 1
            if steps % THINNED_AFTER == 0:
                await self.checkpoints.thin(self.row.id)
            await self._check_user(principal)

    async def _check_user(self, principal: Principal) -> None:
        """Check the user's current rights; restart with changed ones."""
        current = await act_again(self.database, self.row, auto_login=self.settings.server.auto_login)
        if current.access != principal.access:
            raise LeaseLost

    def _note(self, values: dict[str, Any], workplace: Workplace) -> None:
        """Return the changes of a step to the session's row."""
        flow_id = values.get("flow_id")
        changes: dict[str, Any] = {
            "iteration": values.get("iteration", 1),
            "input_tokens": values.get("total_input_tokens", 0),
            "output_tokens": values.get("total_output_tokens", 0),
        }
        if flow_id:
            changes["flow_id"] = flow_id
        link = workplace.link(flow_id) if flow_id else ""
        if link != self.row.options.get("link", ""):
            self.row.options = self.row.options | {"link": link}
            changes["options"] = self.row.options
        self.emitter.values |= changes

    def _beginning(self) -> dict[str, Any]:
        row, own = self.row, self.settings.codev
        return dict(
            initial_state(
                row.id,
                row.requirement,
                flow_id=row.flow_id,
                test_trials=row.options.get("test_trials", 1),
                max_iterations=row.options.get("max_iterations") or own.max_iterations,
                token_budget=row.options.get("token_budget") or own.token_budget,
                repairs_approved=bool(row.options.get("repairs_approved")),
            )
        )


@lru_cache(maxsize=1)
def _graph(saver: BaseCheckpointSaver[Any]) -> SessionGraph:
    """Return the graph, which is cached for the process."""
    return build_graph(saver)


def _interrupts(snapshot: StateSnapshot) -> dict[str, dict[str, JsonValue]]:
    """Return pending interrupts by id. LangGraph derives ids from the step, so they are stable."""
    return {interrupt.id: interrupt.value for task in snapshot.tasks for interrupt in task.interrupts}


def _resting(snapshot: StateSnapshot) -> Rest:
    for interrupt_id, value in _interrupts(snapshot).items():
        return Rest(PENDING, InterruptPayload.model_validate({"data": {}} | value | {"id": interrupt_id}))
    values = snapshot.values
    if values.get("done"):
        return Rest(COMPLETED, stop_reason=str(values.get("note") or ""))
    stop_reason, stop_code = str(values.get("stop_reason") or ""), str(values.get("stop_code") or "")
    stopped = bool(stop_reason or stop_code)
    return Rest(STOPPED if stopped else COMPLETED, stop_reason=stop_reason, stop_code=stop_code)
