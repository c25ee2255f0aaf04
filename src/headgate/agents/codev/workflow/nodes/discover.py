"""Discover: look around with tools that read; only the summary is kept (DD-009)."""

from headgate.agents.codev.domain import Held, Phase
from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow import prompts
from headgate.agents.codev.workflow.context import describe_conflict, flow_described, opening
from headgate.agents.codev.workflow.messages import Exchange, calls_waiting
from headgate.agents.codev.workflow.reading import read_credentials
from headgate.agents.codev.workflow.step import Update, emit_phase
from headgate.agents.codev.workflow.toolwork import execute, offered, take_turn
from headgate.foundation.errors import NotFound
from headgate.foundation.quoting import clipped_to

LONGEST_SUMMARY = 30_000
"""Characters of a summary."""


async def discover(state: AgentState, working: Working) -> Update:
    """A turn of the model. The first reads the flow, which is what an approval will be given for."""
    exchange = list(state.get("exchange") or [])
    update: Update = {}
    if not exchange:
        emit_phase(state, working, "discover")
        held = await _flow(state, working)
        update |= {"flow_id": held.flow_id, "flow_mark": held.mark} if held else {"flow_id": None, "flow_mark": None}
        fresh: AgentState = {**state, "discovery_summary": "", "missing_credentials": []}
        conflict = describe_conflict(state.get("conflict"))
        exchange = [opening(fresh, flow_described(working.workplace, held), conflict)]
    system = prompts.system("discover", working.workplace)
    tools = offered(working, Phase.DISCOVER)
    turn = await take_turn(state, working, "discover", exchange, system=system, tools=tools)
    update |= {**turn.used, "exchange": turn.exchange}
    if turn.over:
        summary = clipped_to(_complete_summary(turn.text, exchange), LONGEST_SUMMARY)
        message = {"role": "assistant", "content": summary}
        update |= {"discovery_summary": summary, "missing_credentials": [], "messages": [message]}
    return update


async def discover_tools(state: AgentState, working: Working) -> Update:
    """What the model called."""
    exchange = list(state.get("exchange") or [])
    tools = offered(working, Phase.DISCOVER)
    carried = await execute(state, working, "discover", calls_waiting(exchange), tools)
    return {"exchange": [*exchange, *carried.messages]}


def _complete_summary(text: str, exchange: Exchange) -> str:
    """The summary; if the model answered only the question for its status, with its earlier answer."""
    before = [
        message["data"]["content"] for message in exchange if message["type"] == "ai" and not message.get("calls")
    ]
    return text if read_credentials(text)[0] or not before else f"{before[-1]}\n\n{text}"


async def _flow(state: AgentState, working: Working) -> Held | None:
    """Return the current flow. It must exist at first; if it was deleted since, the plan creates it again."""
    flow_id = state.get("flow_id")
    if not flow_id:
        return None
    try:
        return await working.workplace.read(flow_id)
    except NotFound:
        if state.get("conflict") is None:
            raise
        return None
