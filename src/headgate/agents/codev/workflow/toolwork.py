"""A phase with tools: the model's turn, and carrying out what it called (DD-009)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from headgate.agents.codev.domain import Answer, DomainTool, Phase
from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState, Conflicted, PhaseName
from headgate.agents.codev.workflow.messages import (
    Exchange,
    answered,
    calls_made,
    calls_wanted,
    model,
    tool_answer,
    user_message,
)
from headgate.agents.codev.workflow.reading import states_credentials
from headgate.agents.codev.workflow.step import Update, ask
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import redact, redact_text
from headgate.foundation.quoting import clipped_to, shortened
from headgate.graph.names import did_you_mean
from headgate.toolkit.pages import CURSORS, OFFSET, offset_of, paged, with_offset

SAME_CALLS = 3
"""How often the same call is run in a row."""
STUCK_AFTER = 6
"""The same call in a row this often ends the phase."""
_PREVIEW = 400
_LONGEST_ARGUMENT = 300
_LONGEST_PAGE = 30_000
"""Characters of one answer; below what a message may hold, so that nothing is cut there."""
SAY_SOMETHING = "You answered nothing. Call a tool, or end this phase with the answer it asks for."
SAY_CREDENTIALS = (
    "This is not the end of the phase yet. If you are still looking around, call the tools that you need. If you know"
    " enough, write the whole summary, ending with the line `CREDENTIALS_STATUS: OK` or with the two lines for MISSING."
)
WROTE_NOTHING = (
    "You called no tool, so nothing was written. Carry the plan out now, with the tools. Only if nothing has to be"
    " written, or nothing can be, say so and why."
)
_LONGEST_WORDS = 20_000
_SAID_NOTHING = "(The model ended this phase without a word.)"
_NO_MORE = "No further tools are called in this phase. Answer now with what you know."


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the model in a phase."""

    exchange: Exchange
    """Empty when the phase is over."""
    text: str = ""
    """What the model ended the phase with."""
    used: Update = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether the phase is over."""
        return not self.exchange


@dataclass(slots=True)
class CallOutcomes:
    """What came of the calls of one message."""

    messages: Exchange = field(default_factory=list)
    flow_id: str | None = None
    flow_mark: str | None = None
    conflict: Conflicted | None = None


def offered(working: Working, phase: Phase) -> list[DomainTool]:
    """The tools of a phase; where nothing may be written, only those that read."""
    own = [tool for tool in working.workplace.tools if phase in tool.phases]
    if phase is Phase.DISCOVER:
        own = [*working.patterns.tools(), *own]
    elif phase is Phase.PATCH:
        own = [*own, *working.patterns.building_tools(own)]
    readable = [tool for tool in own if phase is Phase.PATCH or not tool.writes]
    return [_in_pages(tool) for tool in {tool.name: tool for tool in readable}.values()]


def _in_pages(tool: DomainTool) -> DomainTool:
    """A tool that reads, with its long answers in pages: it takes `offset`, unless it pages its answers itself."""
    read = tool.read
    if read is None or tool.writes or CURSORS & tool.schema.get("properties", {}).keys():
        return tool

    async def page(arguments: dict[str, Any]) -> Answer:
        rest = {name: value for name, value in arguments.items() if name != OFFSET}
        return paged(await read(rest), offset_of(arguments), most=_LONGEST_PAGE)

    return replace(tool, schema=with_offset(tool.schema), read=page)


async def take_turn(
    state: AgentState,
    working: Working,
    phase: PhaseName,
    exchange: Exchange,
    *,
    system: str,
    tools: Sequence[DomainTool],
) -> Turn:
    """Ask the model once. Raises `BudgetUsedUp`."""
    reply = await ask(state, working, phase, exchange, system=system, tools=tools)
    answer = reply.answer
    if answer.tool_calls and not _cut(exchange, working):
        return Turn([*exchange, answered(answer)], used=reply.used)
    if answer.tool_calls:
        note = f"(This phase was ended: {_why_cut(exchange, working)})"
        return Turn([], f"{answer.text}\n\n{note}".strip(), reply.used)
    words = answer.text.strip()
    lacking = _lacking(phase, exchange, words)
    if lacking and user_message(lacking) not in exchange:
        before = [model(clipped_to(words, _LONGEST_WORDS))] if words else []
        return Turn([*exchange, *before, user_message(lacking)], used=reply.used)
    return Turn([], words or _SAID_NOTHING, reply.used)


def _lacking(phase: PhaseName, exchange: Exchange, words: str) -> str:
    """What is asked for, once, before a phase ends: a model may say what it is going to do, and not do it."""
    if not words:
        return SAY_SOMETHING
    if phase == "discover" and not states_credentials(words):
        return SAY_CREDENTIALS
    return WROTE_NOTHING if phase == "patch" and not calls_wanted(exchange) else ""


async def execute(
    state: AgentState, working: Working, phase: PhaseName, calls: Sequence[dict[str, Any]], tools: Sequence[DomainTool]
) -> CallOutcomes:
    """Run the calls of the last message in order, until somebody else turns out to work on the flow."""
    exchange = state.get("exchange") or []
    carried = CallOutcomes(flow_id=state.get("flow_id"), flow_mark=state.get("flow_mark"))
    before = calls_wanted(exchange[:-1])
    for number, call in enumerate(calls):
        refusal = _refusal(call, [*before, *calls[:number]], calls_made(exchange) + number, working, tools)
        key = f"{state['iteration']}.{len(exchange)}.{number}:{call['id']}"[:150]
        began = perf_counter()
        _emit_call(working, phase, key, call)
        answer = refusal or await _executed(call, key, _named(tools, call), carried, state, working=working)
        _emit_result(working, key, call, answer, (perf_counter() - began) * 1000)
        if carried.conflict is not None:
            return carried
        carried.messages.append(tool_answer(call, _written_out(answer), ok="error" not in answer))
    return carried


async def _executed(
    call: dict[str, Any], key: str, tool: DomainTool, carried: CallOutcomes, state: AgentState, *, working: Working
) -> Answer:
    if tool.read is not None and not tool.writes:
        try:
            return await tool.read(call["args"])
        except HeadgateError as error:
            return {"error": error.detail, "remedy": error.remedy}
    written = await working.journal.execute(
        key,
        tool,
        call["args"],
        flow_id=carried.flow_id,
        expected_mark=carried.flow_mark,
        iteration=state["iteration"],
    )
    if written.conflict is not None:
        carried.conflict = written.conflict
        return {"error": written.conflict["message"], "remedy": "Nothing was written."}
    if written.held is not None:
        carried.flow_id, carried.flow_mark = written.held.flow_id, written.held.mark
    return written.answer


def _named(tools: Sequence[DomainTool], call: dict[str, Any]) -> DomainTool:
    return next(tool for tool in tools if tool.name == call["name"])


def _refusal(
    call: dict[str, Any],
    before: Sequence[dict[str, Any]],
    made: int,
    working: Working,
    tools: Sequence[DomainTool],
) -> Answer | None:
    """Why a call is not even tried."""
    names = [tool.name for tool in tools]
    if made >= working.max_tool_calls:
        return {"error": f"This phase made {made} tool calls, the maximum.", "remedy": _NO_MORE}
    if call["name"] not in names:
        error = f"There is no tool '{call['name'][:100]}' in this phase{did_you_mean(call['name'], names) or '.'}"
        return {"error": error, "remedy": f"Tools: {', '.join(names)}."}
    if "args" not in call:
        return {"error": str(call.get("error", "")), "remedy": "Write the arguments again as one JSON object."}
    times = _in_a_row([*before, call])
    if times >= STUCK_AFTER:
        return {"error": f"You made this very call {times} times in a row.", "remedy": _NO_MORE}
    if times > SAME_CALLS:
        remedy = "Its answer is the same every time. Do something else, or end this phase."
        return {"error": f"You made this very call {times} times in a row.", "remedy": remedy}
    return None


def _in_a_row(calls: Sequence[dict[str, Any]]) -> int:
    """How often the last call was made, without another in between."""
    last, times = calls[-1], 0
    for call in reversed(calls):
        if (call["name"], call.get("args"), call.get("error")) != (last["name"], last.get("args"), last.get("error")):
            break
        times += 1
    return times


def _cut(exchange: Exchange, working: Working) -> bool:
    return bool(_why_cut(exchange, working))


def _why_cut(exchange: Exchange, working: Working) -> str:
    """Why the phase calls no further tools; empty while it may."""
    if calls_made(exchange) >= working.max_tool_calls:
        return f"it made {calls_made(exchange)} tool calls, and {working.max_tool_calls} is the most."
    calls = calls_wanted(exchange)
    if calls and (times := _in_a_row(calls)) >= STUCK_AFTER:
        return f"the model made the same call of '{calls[-1]['name'][:100]}' {times} times in a row."
    return ""


def _emit_call(working: Working, phase: PhaseName, key: str, call: dict[str, Any]) -> None:
    arguments = {name: _shortened(value) for name, value in redact(call.get("args", {})).items()}
    working.emit("tool_call", {"id": key, "name": call["name"][:100], "arguments": arguments, "phase": phase})


def _shortened(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = value if isinstance(value, str) else _written_out(value)
    return text if len(text) <= _LONGEST_ARGUMENT else f"{text[:_LONGEST_ARGUMENT]} ..."


def _emit_result(working: Working, key: str, call: dict[str, Any], answer: Answer, milliseconds: float) -> None:
    ok = "error" not in answer
    preview = str(answer["error"]) if not ok else _written_out(redact(answer))
    working.emit(
        "tool_result",
        {
            "id": key,
            "name": call["name"][:100],
            "ok": ok,
            "preview": shortened(redact_text(preview), _PREVIEW),
            "ms": round(milliseconds),
        },
    )


def _written_out(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, ensure_ascii=False, default=str)
