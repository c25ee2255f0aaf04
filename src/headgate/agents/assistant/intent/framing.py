"""Interprets a request: its first progress step, refinements of plans, continuations. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.agents.assistant.intent.intents import Intent
from headgate.agents.assistant.intent.running import asks_to_run, asks_to_run_after
from headgate.agents.assistant.protocol import (
    COMPONENT_CONTINUATION_INPUT,
    EDIT_CONTINUATION_INPUT,
    PLAN_APPROVAL_INPUT,
    PLAN_CLOSING,
    PLAN_OPENING,
    REFINEMENT,
)
from headgate.agents.assistant.turn.events import Step
from headgate.foundation.quoting import quoted

OFF_TOPIC_REFUSAL = (
    "I am the assistant of Headgate: I build, change, explain and run flows, and write components for them. That"
    " request is about something else, so I leave it. Tell me what a flow should do, or ask about Headgate."
)
QUESTION_NOTE = (
    "[This request is a question. Answer it in words, with the reading tools where they help. Nothing is made or"
    " changed in this turn; code in the answer is an example and is not used. If it is no question after all, call"
    " correct_intent first.]\n\n"
)
_FIRST_STEP: dict[Intent, Step] = {
    "generate_component": "generating_component",
    "build_flow": "generating_flow",
    "component_then_flow": "orchestrating",
    "run_flow": "running_flow",
    "manage_files": "generating_document",
    "question": "generating",
    "off_topic": "generating",
}
_NODES = re.compile(r"^nodes:\s*$", re.MULTILINE)
_EDGES = re.compile(r"^\s+\w+\.\w+\s*->\s*\w+\.\w+", re.MULTILINE)
_PLAN_START = "[Previous plan you proposed"
_REFINED = re.compile(rf"\n\s*{re.escape(REFINEMENT)}\s*\n?")


def decide_progress_step(intent: Intent, text: str) -> Step:
    """Return the progress step that a request begins with.

    `orchestrating` for compound requests: a component and a flow with it, or a build followed by a run.
    The texts that the page sends after approving a plan or applying edits continue the build: `generating_flow`.
    """
    if text.strip() in {PLAN_APPROVAL_INPUT, EDIT_CONTINUATION_INPUT, COMPONENT_CONTINUATION_INPUT}:
        return "generating_flow"
    if intent == "build_flow" and asks_to_run_after(text):
        return "orchestrating"
    return _FIRST_STEP[intent]


@dataclass(frozen=True, slots=True)
class Refinement:
    """A request that refines a plan: the plan, and the user's comments."""

    plan: str
    words: str

    def as_request(self) -> str:
        """Return the request for the model: the plan quoted again, so that nothing in it ends its quotation."""
        return f"{quoted(PLAN_OPENING, self.plan, PLAN_CLOSING)}\n\n{REFINEMENT}\n{self.words}"


def read_refinement(text: str) -> Refinement | None:
    """Return the parts of a request that begins with a quoted plan; None for other requests."""
    if not text.startswith(_PLAN_START):
        return None
    head, closing, words = text.rpartition(PLAN_CLOSING)
    if not closing:
        return None
    plan = head.partition("\n")[2] if "\n" in head else head.partition("):")[2]
    return Refinement(plan=plan.strip("\n"), words=_REFINED.sub("", words, count=1).strip())


def wants_run(intent: Intent, *texts: str) -> bool:
    """Whether to run the flow after the turn's edits."""
    return intent == "run_flow" or any(asks_to_run(text) or asks_to_run_after(text) for text in texts)


def continuation_expected(*, wants_run: bool, proposed: Sequence[object], ran: bool) -> bool:
    """Whether a part of the request waits for the user to apply proposed edits (seed 000, ADR-034).

    Only then does the page send `EDIT_CONTINUATION_INPUT`: edits were proposed, and the flow with them was to be run.
    """
    return bool(proposed) and wants_run and not ran


def holds_flow_text(answer: str) -> bool:
    """Whether an answer contains flow text, which is for a tool and not for the user."""
    return _NODES.search(answer) is not None and _EDGES.search(answer) is not None
