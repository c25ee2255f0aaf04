"""Patch: run the approved plan. Each write goes through the journal once, on the flow that was approved."""

from headgate.agents.codev.domain import Held, Phase
from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow import prompts
from headgate.agents.codev.workflow.context import earlier_plan, flow_described, opening
from headgate.agents.codev.workflow.messages import Exchange, calls_waiting, settled, user_message
from headgate.agents.codev.workflow.step import Update, as_seen, conflicted, emit_phase
from headgate.agents.codev.workflow.toolwork import execute, offered, take_turn
from headgate.foundation.quoting import clipped_to

LONGEST_SUMMARY = 10_000
"""Characters of a summary."""


async def patch(state: AgentState, working: Working) -> Update:
    """A turn of the model. The first looks whether the flow is still the one that the approval was given for."""
    exchange = list(state.get("exchange") or [])
    if not exchange:
        emit_phase(state, working, "patch")
        held = await as_seen(state, working, "after the plan for it was made")
        if held is not None and not isinstance(held, Held):
            return conflicted(state, working, {**held, "message": f"{held['message']} Nothing was written."})
        exchange = _opening(state, working, held)
    system = prompts.system("patch", working.workplace)
    tools = offered(working, Phase.PATCH)
    turn = await take_turn(state, working, "patch", exchange, system=system, tools=tools)
    update: Update = {**turn.used, "exchange": turn.exchange}
    if turn.over:
        summary = clipped_to(turn.text, LONGEST_SUMMARY)
        message = {"role": "assistant", "content": summary}
        update |= {"patch_summary": summary, "trials": [], "messages": [message]}
    return update


async def patch_tools(state: AgentState, working: Working) -> Update:
    """What the model called, one after another. Made again after a crash, the journal makes no write twice."""
    exchange = list(state.get("exchange") or [])
    tools = offered(working, Phase.PATCH)
    carried = await execute(state, working, "patch", calls_waiting(exchange), tools)
    flow: Update = {"flow_id": carried.flow_id, "flow_mark": carried.flow_mark}
    if carried.conflict is not None:
        return {**flow, **conflicted(state, working, carried.conflict)}
    if carried.flow_mark != state.get("flow_mark"):
        exchange = [*settled(exchange[:-1]), *exchange[-1:]]
    return {**flow, "exchange": [*exchange, *carried.messages]}


def _opening(state: AgentState, working: Working, held: Held | None) -> Exchange:
    approved = "The plan above is approved, as it stands there. Carry it out."
    flow = flow_described(working.workplace, held)
    return [opening(state), *earlier_plan(state), user_message(f"{approved}\n\n{flow}")]
