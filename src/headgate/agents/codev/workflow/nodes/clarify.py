"""Clarify: questions before anything is looked at, where much is unclear (DD-033)."""

from typing import Any

from headgate.agents.codev.ports import Working
from headgate.agents.codev.schemas import Clarification
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow import prompts
from headgate.agents.codev.workflow.messages import user_message
from headgate.agents.codev.workflow.reading import read_clarity
from headgate.agents.codev.workflow.routing import ASKED_FROM
from headgate.agents.codev.workflow.step import Update, ask, emit_phase

IN_GENERAL = "What should go into the flow, what should come out, and what decides in between?"
"""Asked when the model finds the requirement unclear and asks nothing itself."""


async def clarify(state: AgentState, working: Working) -> Update:
    """Let the model score how ambiguous the requirement is. Without a score, its questions say that it is."""
    emit_phase(state, working, "clarify")
    nothing: Update = {"questions": [], "ambiguity": 0, "clarification": None}
    if working.skip_clarification:
        return nothing
    which = "An existing flow is worked on." if state.get("flow_id") else "A new flow is to be made."
    messages = [user_message(f"# Requirement\n\n{state['requirement']}\n\n{which}")]
    system = prompts.system("clarify", working.workplace)
    reply = await ask(state, working, "clarify", messages, system=system)
    clarity = read_clarity(reply.answer.text)
    asks = any(question.endswith("?") for question in clarity.questions)
    score = clarity.score if clarity.score is not None else ASKED_FROM if asks else 0
    questions = clarity.questions or ([IN_GENERAL] if score >= ASKED_FROM else [])
    return {**nothing, "ambiguity": score, "questions": questions, **reply.used}


def ask_clarification(state: AgentState) -> dict[str, Any]:
    """What the person is asked."""
    return {
        "type": "clarification",
        "prompt": "The requirement is ambiguous. Please answer before the instance is inspected.",
        "data": {"questions": list(state.get("questions") or []), "ambiguity": state.get("ambiguity", 0)},
    }


def take_clarification(_: AgentState, answer: dict[str, Any]) -> Update:
    """The user's answer; the session continues without one if it is empty."""
    text = Clarification.model_validate(answer).text.strip()
    if not text:
        return {"clarification": None}
    return {"clarification": text, "messages": [{"role": "user", "content": text}]}
