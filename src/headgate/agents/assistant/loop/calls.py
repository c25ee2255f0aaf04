"""The tool calls of a turn: offered tools, metrics, and limits. Imports no LangChain."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.turn.events import Step
from headgate.agents.assistant.turn.turn import Turn
from headgate.graph.names import did_you_mean
from headgate.sdk.outside import Marks, merged
from headgate.toolkit.registry import TOOLS, tools_for
from headgate.toolkit.tool import ToolDefinition, succeeded

_STAGES: dict[str, Step] = {
    "search_components": "searching_components",
    "describe_component": "searching_components",
    "build_flow": "building_flow",
    "run_flow": "running_flow",
}
_EDITING = frozenset(
    {
        "add_component",
        "remove_component",
        "connect_components",
        "disconnect_components",
        "configure_component",
        "rename_component",
        "undo",
        "edit_flow",
        "group_components",
        "extract_flow",
        "inline_flow",
    }
)
_BY_NAME = {tool.name: tool for tool in TOOLS}
_STUCK = "The turn was stopped: the model repeated the same calls."


def offered_tools(turn: Turn) -> list[ToolDefinition]:
    """The tools of a turn: those its user may use, and of them those the turn is for."""
    return [tool for tool in tools_for(turn.bench) if turn.only is None or tool.name in turn.only]


async def call_tool(turn: Turn, offered: Collection[str], name: str, arguments: dict[str, Any]) -> dict[str, JsonValue]:
    """Call a tool on the turn's workbench; errors are returned as results."""
    if not turn.stopped:
        turn.spend_call()
    if turn.stopped:
        return {"ok": False, "error": turn.stop_note, "remedy": "Stop here.", "code": "turn_stopped"}
    if name not in offered:
        error = f"There is no tool '{name}'{did_you_mean(name, offered) or '.'}"
        return {"ok": False, "error": error, "remedy": f"Tools: {', '.join(offered)}.", "code": "unknown_tool"}
    return await _timed(turn, _BY_NAME[name], arguments)


async def answer_of(
    turn: Turn, offered: Collection[str], name: str, arguments: dict[str, Any]
) -> tuple[dict[str, JsonValue], Marks]:
    """Call a tool for a model. Returns the result, and the origins of its untrusted content."""
    runs = len(turn.bench.runs)
    answer = await call_tool(turn, offered, name, arguments)
    if name not in _BY_NAME:
        return answer, ()
    marks = _BY_NAME[name].brought(turn.bench, arguments, answer)
    return answer, merged(marks, *(turn.bench.marks_of(run) for run in turn.bench.runs[runs:]))


def runs_last(name: str) -> bool:
    """Whether calls of a tool come after the other calls of their message: a run is of the flow with their edits."""
    return name == "run_flow"


@asynccontextmanager
async def time_limit(turn: Turn) -> AsyncIterator[None]:
    """Stop the turn when its seconds are over."""
    try:
        async with asyncio.timeout(turn.seconds_left) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        turn.stop_for_time()


def last_words(turn: Turn, answer: str) -> str:
    """Return the final answer of a turn; if it was stopped, with the reason."""
    return f"{answer}\n\n{turn.stop_note}".strip() if turn.stopped else answer


async def _timed(turn: Turn, tool: ToolDefinition, arguments: dict[str, Any]) -> dict[str, JsonValue]:
    stage = _STAGES.get(tool.name) or ("editing_flow" if tool.name in _EDITING else None)
    if stage is not None:
        turn.stage(stage)
    began, runs = perf_counter(), len(turn.bench.runs)
    answer = await tool.call(turn.bench, arguments)
    ok = succeeded(answer)
    turn.metrics.tool_called(
        tool.name, ok=ok, milliseconds=(perf_counter() - began) * 1000, error=str(answer.get("error", ""))
    )
    if tool.name == "build_flow":
        turn.stage("flow_built" if ok else "flow_build_failed")
    for outcome in turn.bench.runs[runs:]:
        turn.spend_model_tokens(outcome.input_tokens, outcome.output_tokens, "run")
    if turn.bench.calls.stuck:
        turn.stop("loop", _STUCK)
    return answer
