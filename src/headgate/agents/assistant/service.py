"""One turn of the assistant, as a stream of events."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import JsonValue

from headgate.agents.assistant.errors import TooManyTurns, TurnStopped
from headgate.agents.assistant.generation.workshop import Workshop
from headgate.agents.assistant.memory.conversation import (
    ConversationBuffer,
    prefixed,
    session_key,
)
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.models.choice import TurnModels
from headgate.agents.assistant.page_metrics import PageFigures
from headgate.agents.assistant.running_turns import RunningTurns, Work
from headgate.agents.assistant.schemas import AssistRequest, CheckConfig
from headgate.agents.assistant.turn import events
from headgate.agents.assistant.turn.events import AssistEvent
from headgate.agents.assistant.turn.turn import Turn
from headgate.agents.assistant.turn.usage import Budget, BudgetSpent
from headgate.agents.assistant.turn_flow import RunInput, TurnFlow
from headgate.agents.assistant.verification.closing import completed
from headgate.features.access.principal import Again, Principal, within
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex
from headgate.features.flows.rules import FlowRules
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.foundation.at_once import AtOnce
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.fair_places import Share, work_for
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger
from headgate.foundation.settings import AssistantSettings
from headgate.graph.model import Flow
from headgate.toolkit.outside import OutsideGate
from headgate.toolkit.ports import RunsFlows, StoredFlow
from headgate.toolkit.proof import diff_lines
from headgate.toolkit.workbench import Workbench

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel

    from headgate.agents.assistant.orchestration import Orchestration, Played
    from headgate.features.files.storage import Storage

log = get_logger(__name__)
_BUILD_TASKS = frozenset({"add_component", "remove_component", "connect", "configure"})
"""Changes that the page lists one by one; a whole new flow is none of them."""
_SECONDS_AROUND = 10.0
"""How long reading the flow and saving it may take in addition to a turn's seconds."""
_UNKNOWN_INTENT = "none"
"""Stands for the intent of a turn that ended before it was known."""
StoredOf = Callable[[Principal, Callable[[], str | None], Again | None], StoredFlow]
"""The user, a callable for the id of the flow once it has one, and one for the user's current rights."""


class ChoosesModels(Protocol):
    """Gives the models of a turn."""

    async def choose(
        self, principal: Principal, *, provider: str | None, name: str | None, bench: Workbench, session_id: str = ""
    ) -> TurnModels:
        """Who answers. Raises `Invalid` naming what is missing."""

    async def check_config(self, principal: Principal) -> CheckConfig:
        """Which providers are configured for this person."""

    def explain(self, error: Exception) -> HeadgateError:
        """What a provider's own error means to the person who asked."""


@dataclass(slots=True)
class Asking:
    """A request on its way: its turn's id, where its events go, and how it ended."""

    flow: TurnFlow
    request: AssistRequest
    turn_id: str = field(default_factory=new_id)
    queue: "asyncio.Queue[AssistEvent | None]" = field(default_factory=asyncio.Queue)
    turn: Turn | None = None
    work: "Orchestration | None" = None
    data: dict[str, Any] | None = None
    error: HeadgateError | None = None
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return asyncio.get_running_loop().time() - self.began

    @property
    def intent(self) -> str:
        """What it was taken for."""
        return (self.turn.intent if self.turn is not None else "") or _UNKNOWN_INTENT

    def used(self) -> dict[str, Any]:
        """What the model calls of the turn used and cost until now; empty before there was a turn."""
        turn = self.turn
        if turn is None:
            return {}
        cost = self.work.bill.as_json() if self.work is not None else None
        used = {"model": turn.model_name, "usage": turn.usage.as_json(), "duration_seconds": round(turn.seconds, 3)}
        phases = {phase: tokens.as_json() for phase, tokens in turn.usage.phases.items()}
        return used | {"usage_by_phase": phases} | ({"cost": cost} if cost is not None else {})

    def left(self) -> dict[str, Any]:
        """The flow, and what was saved of it before the turn failed."""
        turn, stored = self.turn, self.flow.stored
        changes = [] if turn is None or stored is None else diff_lines(turn.before, stored, turn.bench.registry)
        return {"flow_id": self.flow.flow_id, "changes": changes}

    @property
    def session_id(self) -> str | None:
        """The conversation, with the prefix of the assistant's own."""
        return prefixed(self.request.session_id) if self.request.session_id else None


@dataclass(frozen=True, slots=True)
class Assistant:
    """The assistant of an installation. Of requests it holds which are being worked on."""

    database: Database
    registry: Registry
    index: WordIndex
    models: ChoosesModels
    runs: RunsFlows
    conversations: ConversationBuffer
    limits: AssistantSettings = field(default_factory=AssistantSettings)
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)
    workshop: Workshop | None = None
    rules: FlowRules | None = None
    """The readiness check; None: what flows need from outside is not known."""
    files_of: "Callable[[Principal], UserWorkspace] | None" = None
    """A person's workspace; None where there is none."""
    stored_of: StoredOf | None = None
    """The flow of a turn as it is stored, for tools on runs, tests and what flows may use."""
    storage: "Callable[[], Storage] | None" = None
    """Where uploaded files are; the offline builder looks at those of a request."""
    running_turns: RunningTurns = field(init=False)
    page: PageFigures = field(init=False)
    """What pages report of conversations."""

    def __post_init__(self) -> None:
        at_once = AtOnce(self.limits.max_turns_per_person, TooManyTurns)
        object.__setattr__(self, "running_turns", RunningTurns(self.metrics, at_once))
        object.__setattr__(self, "page", PageFigures(self.metrics.instruments))

    async def open(
        self,
        principal: Principal,
        request: AssistRequest,
        again: Again | None = None,
        *,
        given: RunInput | None = None,
    ) -> TurnFlow:
        """Take the flow that a request is about; no model is asked. Raises `FlowNotFound`, `PermissionMissing`.

        `again` says who asks as things are later, when the turn changes something; without it nobody takes rights away
        from the asker. `given` is what runs of the turn get.
        """
        turn_flow = TurnFlow(
            database=self.database,
            registry=self.registry,
            principal=principal,
            runs=self.runs,
            rules=self.rules,
            file_ids=request.file_ids,
            storage=self.storage,
            again=again,
            given=given or RunInput(),
        )
        await turn_flow.open(request.flow_id or None)
        return turn_flow

    async def stream(self, turn_flow: TurnFlow, request: AssistRequest) -> AsyncGenerator[AssistEvent, None]:
        """Work on one request. Events come when they happen; closing the iterator cancels the model call.

        The first event names the turn, the last is `complete`, `error` or `cancelled`.
        """
        asking = Asking(turn_flow, request)
        with self.running_turns.working(asking.turn_id, turn_flow.principal) as work:
            yield _opening(asking)
            work.task = asyncio.create_task(self._work(asking, work))
            try:
                while (event := await asking.queue.get()) is not None:
                    yield event
            finally:
                await work.end()

    async def answer(self, turn_flow: TurnFlow, request: AssistRequest) -> dict[str, Any]:
        """The same without a stream: the data of `complete`. Raises what the turn ended with."""
        asking = Asking(turn_flow, request)
        with self.running_turns.working(asking.turn_id, turn_flow.principal) as work:
            work.task = asyncio.create_task(self._work(asking, work))
            try:
                await asyncio.wait([work.task])
            finally:
                await work.end()
        if asking.error is not None:
            raise asking.error
        if asking.data is None:
            raise TurnStopped("The turn was stopped.", remedy="Send the request again; saved changes are kept.")
        return asking.data

    def stop(self, principal: Principal, turn_id: str) -> bool:
        """Stop a turn that this user began, here or in another window. False when it has ended.

        Raises `TurnNotFound`.
        """
        return self.running_turns.stop(principal, turn_id)

    async def _work(self, asking: Asking, work: Work) -> None:
        """Do the turn and report how it ended, whichever way that is."""
        try:
            asking.data = await self._in_time(asking)
            asking.queue.put_nowait(events.complete(asking.data))
        except asyncio.CancelledError:
            self.metrics.request_cancelled(work.reason, asking.seconds)
            asking.queue.put_nowait(events.cancelled())
        except HeadgateError as error:
            self._failed(asking, error)
        except Exception:
            log.exception("turn failed")
            fault = HeadgateError("Internal error; see the server log.", remedy=("Try again, or report the problem."))
            self._failed(asking, fault)
        finally:
            self.metrics.working_flow_reset(asking.session_id)
            asking.queue.put_nowait(None)

    def _failed(self, asking: Asking, error: HeadgateError) -> None:
        left = asking.used() | asking.left()
        error.extra |= left
        asking.error = error
        self.metrics.request_failed(error.code, error.detail, where=asking.intent)
        asking.queue.put_nowait(events.failed(error, left))

    async def _in_time(self, asking: Asking) -> dict[str, Any]:
        """The turn within its seconds, with some more for what comes before and after the model's work."""
        seconds = self.limits.max_seconds
        try:
            async with asyncio.timeout(seconds + _SECONDS_AROUND) as limit:
                return await self._turn(asking)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise BudgetSpent(
                f"The turn was stopped after {seconds:g} seconds.",
                remedy="Changes saved before that are kept; ask for the rest in smaller steps.",
            ) from error

    async def _turn(self, asking: Asking) -> dict[str, Any]:
        request, turn_flow = asking.request, asking.flow
        work_for(Share(turn_flow.principal.tenant_id, turn_flow.space_id, turn_flow.principal.user_id or ""))
        turn = asking.turn = await self._new_turn(asking)
        key = session_key(turn_flow.principal, request.session_id)
        models = await self.models.choose(
            within(turn_flow.principal, turn_flow.space_id),
            provider=request.provider,
            name=request.model_name,
            bench=turn.bench,
            session_id=request.session_id or "",
        )
        turn.provider, turn.model_name = models.provider, models.name
        if self.workshop is not None and not models.offline:
            retries = request.max_retries or self.limits.max_retries
            chat = cast("BaseChatModel", models.chat)
            turn.bench.maker = self.workshop.maker(turn, lambda: chat, max_retries=retries)
        history = await self.conversations.get_recent(key)
        work: Orchestration = _load().Orchestration(
            turn, request.input_value, models, history, flow_id=turn_flow.flow_id or ""
        )
        asking.work = work
        try:
            played = await self._played(work)
        except HeadgateError:  # what was made until then is paid for
            with suppress(HeadgateError):
                await self._apply(asking, turn)
            raise
        finally:
            await self._audit(asking, turn)
        await self._apply(asking, turn)
        data = self._completed(asking, turn, played)
        await self.conversations.push_async(key, _load().remembered(turn, work.request_text, played.result))
        return data

    async def _apply(self, asking: Asking, turn: Turn) -> None:
        """Arrange the flow, and store it where the request wants it stored or a run has stored it."""
        to_store = asking.flow.stored == turn.bench.flow or (asking.request.apply and turn.bench.flow != turn.before)
        turn.bench.keep_arranged()
        if to_store:
            await asking.flow.save(turn.bench.flow, restores=turn.bench.restores)

    async def _audit(self, asking: Asking, turn: Turn) -> None:
        """Record which calls content from outside may have decided: those refused, and those the user allowed."""
        gate = turn.bench.outside
        payloads: list[tuple[Action, dict[str, JsonValue]]] = []
        if gate.refused:
            tools = sorted({call.tool for call in gate.refused})
            payloads.append(("assistant.call_refused", {"tools": [*tools], "sources": [*gate.marks]}))
        if gate.let_through:
            payloads.append(("assistant.call_allowed", {"tools": [*sorted(gate.let_through)]}))
        if not payloads:
            return
        async with self.database.writing() as session:
            for action, payload in payloads:
                await record(session, turn.principal, action, id=asking.flow.flow_id or "", payload=payload)

    async def _played(self, work: "Orchestration") -> "Played":
        turn = work.turn
        try:
            async with asyncio.timeout(turn.seconds_to_end) as limit:
                return await work.play()
        except TimeoutError as error:
            if not limit.expired():
                raise self.models.explain(error) from error
            turn.stop_for_time()
            return work.stopped()
        except BudgetSpent as error:  # what was made until then is kept, and what it cost is shown
            turn.stop("budget", str(error))
            return work.stopped()
        except HeadgateError:
            raise
        except Exception as error:
            log.exception("turn failed")  # models report their failures as errors of ours: this is another kind
            raise self.models.explain(error) from error

    async def _new_turn(self, asking: Asking) -> Turn:
        turn_flow, principal, emit = asking.flow, asking.flow.principal, asking.queue.put_nowait
        flow = turn_flow.stored or Flow()
        turn_flow.on_event = lambda run_id, kind, data: emit(events.run_update(run_id, kind, data))
        components = self.workshop.components if self.workshop is not None else None
        own = await components.own_components(turn_flow.principal, flow) if components is not None else ()
        bench = Workbench(
            principal=turn_flow.principal,
            space_id=turn_flow.space_id,
            flow=flow,
            registry=Overlay(self.registry, self.index, own),
            runner=turn_flow,
            save=turn_flow.save,
            files=self.files_of(turn_flow.principal) if self.files_of is not None else None,
            stored=self.stored_of(principal, lambda: turn_flow.flow_id, turn_flow.again) if self.stored_of else None,
            environment=await turn_flow.environment(flow),
            outside=OutsideGate(asking.request.input_value, frozenset(asking.request.outside_allowlist)),
        )
        limits = self.limits
        turn = Turn(
            request=asking.request.input_value,
            principal=turn_flow.principal,
            bench=bench,
            emit=emit,
            before=flow,
            turn_id=asking.turn_id,
            session_id=asking.session_id,
            attached=turn_flow.attached,
            budget=Budget(limits.max_tool_calls, limits.max_seconds, limits.max_tokens),
            metrics=self.metrics,
            began=perf_counter() - asking.seconds,
            given=turn_flow.given.as_block(),
            must_run=turn_flow.given.requested,
        )
        bench.on_action, bench.on_file = turn.on_action, turn.on_file
        return turn

    def _completed(self, asking: Asking, turn: Turn, played: "Played") -> dict[str, Any]:
        """The data of `complete`: what was done, and what the whole turn used and cost."""
        data = completed(turn, asking.flow, played.result) | played.extra
        data |= {"turn_id": turn.turn_id, "session_id": turn.session_id, "intent": turn.intent, **asking.used()}
        self.metrics.build_tasks(sum(action["action"] in _BUILD_TASKS for action in turn.bench.actions))
        self.metrics.request_completed(
            intent=turn.intent,
            seconds=turn.seconds,
            validated=bool(data.get("validated")),
            attempts=int(data.get("validation_attempts", 0)),
        )
        return data


def _opening(asking: Asking) -> AssistEvent:
    """The first event: sent before any lookup, so that the client knows what to stop."""
    return events.progress("understanding") | {"turn_id": asking.turn_id, "session_id": asking.session_id}


def _load() -> Any:  # noqa: ANN401 - the module
    """LangChain takes most of a second to import: the first request pays for it, not the start."""
    return import_module("headgate.agents.assistant.orchestration")
