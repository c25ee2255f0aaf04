"""What steps have in common: asking the model within the budget, and telling what happens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.agents.codev.domain import DomainTool
from headgate.agents.codev.ports import Said, Working
from headgate.agents.codev.state import AgentState, Conflicted, PhaseName
from headgate.agents.codev.workflow.messages import fitted

Update = dict[str, Any]
"""What a node changes in the state."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and what asking it changes in the state."""

    said: Said
    used: Update
    """Tokens, and that the session stops when these were too many."""

    @property
    def over(self) -> bool:
        """Whether the budget is used up."""
        return "stop_code" in self.used


OVER_BUDGET: Update = {"stop_code": "budget"}


def phase_told(state: AgentState, working: Working, phase: PhaseName) -> None:
    """Tell that the session came to a phase."""
    working.tell("phase", {"phase": phase, "iteration": state["iteration"]})


def tokens_used(state: AgentState) -> int:
    """Tokens of the session until now."""
    return state.get("total_input_tokens", 0) + state.get("total_output_tokens", 0)


def used(state: AgentState, working: Working, input_tokens: int, output_tokens: int) -> Update:
    """What using tokens changes in the state (DD-029); over the budget, the session stops."""
    total_in = state.get("total_input_tokens", 0) + input_tokens
    total_out = state.get("total_output_tokens", 0) + output_tokens
    working.tell("usage", {"input_tokens": total_in, "output_tokens": total_out})
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
) -> Reply | None:
    """Ask the model; None when the budget was used up before, and nothing was asked."""
    if tokens_used(state) >= state["token_budget"]:
        return None
    said = await working.reasoning.complete(
        fitted(messages),
        system=system,
        tools=tools,
        on_token=lambda text: working.tell("token", {"text": text, "phase": phase}),
    )
    return Reply(said, used(state, working, said.input_tokens, said.output_tokens))


def conflicted(state: AgentState, working: Working, conflict: Conflicted) -> Update:
    """Somebody else changed the flow: the iteration is over, and no approval holds any more."""
    working.tell("conflict", {"message": conflict["message"]})
    update: Update = {"conflict": dict(conflict), "approved": False, "exchange": [], "trials": []}
    if state["iteration"] >= state["max_iterations"]:
        return update | {"stop_code": "iterations"}
    return update | {"iteration": state["iteration"] + 1, "converge_verdict": None}
