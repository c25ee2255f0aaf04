"""How a turn goes: memory, intent, then one of four ways: a refusal, an answer, a component, or the loop.

Loaded with the first request; LangChain is imported when a language model is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headgate.agents.assistant.generation.request import make_component
from headgate.agents.assistant.intent import framing
from headgate.agents.assistant.intent.intents import Intent, IntentResult
from headgate.agents.assistant.intent.known import deterministic
from headgate.agents.assistant.loop.offline_work import work_offline
from headgate.agents.assistant.memory.context import classification_context, history_block
from headgate.agents.assistant.memory.conversation import ConversationTurn
from headgate.agents.assistant.models.available import models_block
from headgate.agents.assistant.models.choice import TurnModels
from headgate.agents.assistant.models.costs import Bill, budget_words, describe_budget
from headgate.agents.assistant.offline.builder import OfflineBuilder
from headgate.agents.assistant.protocol import PLAN_APPROVAL_INPUT
from headgate.agents.assistant.turn.events import progress
from headgate.agents.assistant.turn.turn import Turn
from headgate.agents.assistant.turn.usage import Tokens
from headgate.agents.assistant.verification.verify import verify
from headgate.foundation.errors import HeadgateError
from headgate.foundation.lazy import lazy_module
from headgate.foundation.log import get_logger, redact_text
from headgate.sdk import Model
from headgate.toolkit.registry import READING_TOOLS

if TYPE_CHECKING:
    from headgate.agents.assistant.intent import classify
    from headgate.agents.assistant.loop import loop
else:
    classify = lazy_module("headgate.agents.assistant.intent.classify")
    loop = lazy_module("headgate.agents.assistant.loop.loop")

log = get_logger(__name__)

_SHORT: frozenset[Intent] = frozenset({"question", "off_topic"})
_OF_FLOWS: frozenset[Intent] = frozenset({"build_flow", "run_flow"})


@dataclass(slots=True)
class Played:
    """What came of a turn."""

    result: str
    extra: dict[str, Any] = field(default_factory=dict)
    """Further members of `complete`."""


@dataclass(slots=True)
class Orchestration:
    """One turn being worked on.

    Args:
        turn: The turn.
        asked: The request as it came.
        models: Who answers.
        history: The conversation until now, the oldest turn first.
        flow_id: The stored flow that it is about; empty for a new one.
    """

    turn: Turn
    asked: str
    models: TurnModels
    history: Sequence[ConversationTurn]
    flow_id: str = ""
    bill: Bill = field(init=False)
    refinement: framing.Refinement | None = field(init=False)

    def __post_init__(self) -> None:
        self.bill = Bill(self.turn.usage, self.models.info)
        self.refinement = framing.read_refinement(self.asked)
        if self.models.chain is not None:
            self.models.chain.on_change = self._model_changed

    async def play(self) -> Played:
        """Work until there is an answer. Raises `BudgetSpent`, and what a provider failed with."""
        turn = self.turn
        turn.request = self._request()
        classified = await self._classified()
        turn.intent = classified.intent
        self._emit_start(classified.intent)
        if classified.intent == "off_topic" and not self.models.offline:
            return Played(framing.OFF_TOPIC_REFUSAL)
        if classified.intent not in _SHORT:
            self._emit_budget()
        maker = turn.bench.maker
        if classified.intent == "generate_component" and maker is not None and not self.models.offline:
            return Played(*await make_component(maker, turn, history_block(self.history) + turn.request))
        turn.stage(framing.decide_progress_step(classified.intent, classified.english))
        turn.preface = await self._preface(classified.intent)
        turn.only = READING_TOOLS if classified.intent == "question" else None
        result = await self._work()
        classified = replace(classified, intent=turn.intent)  # the model may have found it to be another
        played = await self._verified(classified, result)
        self._emit_proposals(played.result)
        wants_run = self._wants_run(classified)
        played.extra["continuation_expected"] = turn.bench.component is not None or framing.continuation_expected(
            wants_run=wants_run, proposed=turn.bench.proposals, ran=bool(turn.bench.runs)
        )
        return played

    def stopped(self) -> "Played":
        """How a turn ends whose budget is reached: with what was done until then."""
        return Played(self.turn.stop_note)

    @property
    def request_text(self) -> str:
        """What the person said, in their own words."""
        return self.refinement.words if self.refinement is not None else self.asked

    def _request(self) -> str:
        """The request for the model; the offline builder reads words and no quotations."""
        if self.refinement is None:
            return self.asked
        return self.refinement.words if self.models.offline else self.refinement.as_request()

    async def _classified(self) -> IntentResult:
        classified = await self._intent()
        if classified.tokens.total:
            self.turn.spend_tokens(classified.tokens.input_tokens, classified.tokens.output_tokens, "intent")
        return classified

    async def _intent(self) -> IntentResult:
        request, info = self.turn.request, self.models.info
        model = await self.models.classifier()
        if isinstance(model, OfflineBuilder):
            for name, content in await self.turn.attached():
                model.look(name, content)
            return deterministic(request) or IntentResult(model.intent_of(request), request, Tokens())
        context = self.turn.without_secrets(classification_context(self.history, self.turn.bench.flow))
        structured = info is not None and info.structured_output
        return await classify.classify(model, request, context=context, structured=structured)

    async def _work(self) -> str:
        """The closing words of the model or the offline builder, after the tool calls."""
        model = self.models.chat
        if isinstance(model, OfflineBuilder):
            return await work_offline(model, self.turn)
        return await loop.run_loop(model, self.turn)

    async def _preface(self, intent: Intent) -> str:
        """The quoted blocks before the canvas. The oldest context first, as the seeds have it."""
        if self.models.offline:
            return ""
        block = history_block(self.history) + self.turn.given
        if intent == "question":
            return block + framing.QUESTION_NOTE
        return block + models_block(await self.models.available())

    def _model_changed(self, model: Model) -> None:
        self.turn.model_name = str(model)
        self.bill.change(self.models.info)

    def _emit_start(self, intent: Intent) -> None:
        turn, metrics = self.turn, self.turn.metrics
        metrics.intent_classified(intent, turn.session_id)
        metrics.request_started(
            user_id=turn.principal.user_id,
            flow_id=self.flow_id,
            provider=turn.provider,
            model_name=turn.model_name,
            intent=intent,
        )
        if self.refinement is not None:
            metrics.plan_refined(
                turn.session_id, plan_length=len(self.refinement.plan), request_length=len(self.refinement.words)
            )
        elif self.asked.strip() == PLAN_APPROVAL_INPUT:
            metrics.plan_approved()

    async def _verified(self, intent: IntentResult, result: str) -> Played:
        """Make sure that a flow which was to be run has run; say so honestly where it has not."""
        turn = self.turn
        if turn.stopped or not self._wants_run(intent):
            return Played(result)
        if intent.intent == "question" or (self.models.offline and intent.intent not in _OF_FLOWS):
            return Played(result)  # what a file is to say may speak of running
        try:
            model = self.models.chat
            checked = await verify(None if isinstance(model, OfflineBuilder) else model, turn)
        except HeadgateError as error:  # what the turn did before stays, and is reported
            log.warning("assistant.verification.failed", code=error.code, error=error.detail)
            caveat = f"Whether the flow runs could not be determined: {error.detail}"
            verification = {"verified": False, "attempts": len(turn.bench.runs), "caveat": caveat}
            return Played(f"{result}\n\n{caveat}".strip(), {"verification": verification})
        answer = checked.answer or result
        if checked.caveat and not self.models.offline:  # the offline builder reports its runs itself
            answer = f"{answer}\n\n{checked.caveat}".strip()
        verification = {"verified": checked.verified, "attempts": checked.attempts, "caveat": checked.caveat}
        return Played(answer, {"verification": verification})

    def _wants_run(self, intent: IntentResult) -> bool:
        return self.turn.must_run or framing.wants_run(intent.intent, intent.english, self.request_text)

    def _emit_proposals(self, result: str) -> None:
        """What waits for the person, and a flow that was written into the answer instead of being built."""
        turn, bench = self.turn, self.turn.bench
        if bench.plan:
            turn.metrics.plan_proposed(turn.session_id, len(bench.plan), replan=self.refinement is not None)
        if bench.pending:
            turn.stage("flow_proposal_ready")
            turn.metrics.proposal_ready(attempt=1, nodes=len(bench.flow.nodes), edges=len(bench.flow.edges))
        if not bench.actions and not turn.only and framing.holds_flow_text(result):
            turn.metrics.text_fallback()

    def _emit_budget(self) -> None:
        """What the turn may use, before it uses it. The offline builder uses nothing that anybody pays for."""
        if not self.models.offline:
            budget = describe_budget(self.turn.budget, self.models.info)
            details = {"model": self.turn.model_name, "message": budget_words(budget), "budget": budget}
            self.turn.emit(progress("budget") | details)


def remembered(turn: Turn, request: str, result: str) -> ConversationTurn:
    """A turn as it is remembered: without secrets, and what was proposed belongs to the answer.

    Without the plan or the component its approval would mean nothing.
    """
    plan, component = turn.bench.plan, turn.bench.component
    answer = f"{result}\n\n[Proposed plan]\n{plan}" if plan else result
    if component is not None:
        answer += f"\n\n[Proposed component, saved only when the user accepts it]\n{component.checked.type}"
    texts = (redact_text(turn.without_secrets(text)) for text in (request, answer.strip()))
    return ConversationTurn(*texts)
