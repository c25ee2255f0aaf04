"""What steps have in common: asking the model within the budget, and telling what happens."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.agents.codev.domain import DomainTool, Held
from headgate.agents.codev.ports import ModelAnswer, Working
from headgate.agents.codev.state import AgentState, Conflicted, PhaseName
from headgate.agents.codev.workflow.messages import Exchange, fitted, model, user_message
from headgate.features.models.errors import BrokenModelAnswer, PromptTooLong
from headgate.foundation.errors import NotFound
from headgate.sdk.answers import Fault

Update = dict[str, Any]
"""What a node changes in the state."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and what asking it changes in the state."""

    answer: ModelAnswer
    used: Update
    """Tokens, and that the session stops when these were too many."""

    @property
    def over(self) -> bool:
        """Whether the budget is used up."""
        return "stop_code" in self.used


LENGTHS = (400_000, 100_000, 25_000)
"""Characters of a phase's messages, tried one after another while they are too long for the model."""
MOST_TOKENS = 1_000_000_000
"""Tokens that one use is counted as at most, whatever is said of it."""
OVER_BUDGET: Update = {"stop_code": "budget"}


class BudgetUsedUp(Exception):
    """The budget was used up before the model was asked, so it was not."""


def emit_phase(state: AgentState, working: Working, phase: PhaseName) -> None:
    """Emit that the session entered a phase."""
    working.emit("phase", {"phase": phase, "iteration": state["iteration"]})


def tokens_used(state: AgentState) -> int:
    """Tokens of the session until now."""
    return state.get("total_input_tokens", 0) + state.get("total_output_tokens", 0)


def used(state: AgentState, working: Working, input_tokens: int, output_tokens: int) -> Update:
    """What using tokens changes in the state (DD-029); over the budget, the session stops."""
    input_tokens, output_tokens = (max(0, min(number, MOST_TOKENS)) for number in (input_tokens, output_tokens))
    total_in = state.get("total_input_tokens", 0) + input_tokens
    total_out = state.get("total_output_tokens", 0) + output_tokens
    working.emit("usage", {"input_tokens": total_in, "output_tokens": total_out})
    update: Update = {"total_input_tokens": input_tokens, "total_output_tokens": output_tokens}
    return update | OVER_BUDGET if total_in + total_out >= state["token_budget"] else update


async def ask(
    state: AgentState,
    working: Working,
    phase: PhaseName,
    messages: Sequence[dict[str, Any]],
    *,
    system: str,
    tools: Sequence[DomainTool] = (),
) -> Reply:
    """Ask the model. Raises `BudgetUsedUp` when nothing was asked."""
    if tokens_used(state) >= state["token_budget"]:
        raise BudgetUsedUp

    def emit_token(text: str) -> None:
        working.emit("token", {"text": text, "phase": phase})

    complete = working.reasoning.complete

    def asking(sent: Exchange) -> Awaitable[ModelAnswer]:
        return complete(sent, system=system, tools=tools, on_token=emit_token)

    answer = await _ask_model(messages, asking)
    input_tokens, output_tokens = answer.input_tokens, answer.output_tokens
    if answer.fault is not None:
        sent_back = [model(answer.text.strip() or "(Nothing.)"), user_message(answer.fault.correction)]
        answer = await _ask_model([*messages, *sent_back], asking)
        input_tokens, output_tokens = input_tokens + answer.input_tokens, output_tokens + answer.output_tokens
    if answer.fault is not None:
        raise _unusable(working, answer.fault)
    return Reply(answer, used(state, working, input_tokens, output_tokens))


def _unusable(working: Working, fault: Fault) -> BrokenModelAnswer:
    return BrokenModelAnswer(
        f"{working.reasoning.model_id} {fault.detail}. It was called 2 times.",
        remedy=f"{fault.remedy} Then continue the session: earlier writes are kept.",
    )


async def _ask_model(
    messages: Sequence[dict[str, Any]], asking: Callable[[Exchange], Awaitable[ModelAnswer]]
) -> ModelAnswer:
    """What is said to messages that fit; where they are too long, to fewer old answers of tools."""
    fitting: list[Exchange] = []
    for most in LENGTHS:
        sent = fitted(messages, most)
        if sent not in fitting:
            fitting.append(sent)
    for sent in fitting[:-1]:
        try:
            return await asking(sent)
        except PromptTooLong:
            continue
    return await asking(fitting[-1])


async def as_seen(state: AgentState, working: Working, when: str) -> Held | Conflicted | None:
    """The flow, where it is as the session last saw it, else what others did `when`; None while there is none."""
    flow_id = state.get("flow_id")
    if not flow_id:
        return None
    try:
        held = await working.workplace.read(flow_id)
    except NotFound as error:
        return Conflicted(message=f"{error.detail} It was deleted {when}.", lines=[])
    if held.mark == state.get("flow_mark"):
        return held
    return Conflicted(message=f"'{held.name}' was changed by another user {when}.", lines=[])


def conflicted(state: AgentState, working: Working, conflict: Conflicted) -> Update:
    """Somebody else changed the flow: the iteration is over, and no approval holds any more.

    The verdict and the trials stay: the plan that follows repairs what failed on the flow as it is now.
    """
    working.emit("conflict", {"message": conflict["message"]})
    update: Update = {"conflict": dict(conflict), "approved": False, "exchange": [], "unsure": 0}
    if state["iteration"] >= state["max_iterations"]:
        return update | {"stop_code": "iterations"}
    return update | {"iteration": state["iteration"] + 1}
