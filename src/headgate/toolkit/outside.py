"""Untrusted content in a request to an assistant: what tool results contain, and which calls it must not determine.

Marks are added where a tool result enters, and calls are checked where a tool is called (ADR 30). Both lists
name harmless tools: any other tool returns untrusted content and has external effects.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import JsonValue

from headgate.features.catalog.own.overlay import Overlay
from headgate.features.runs.errors import OutsideContentRefused
from headgate.graph.model import Flow
from headgate.sdk.outside import Marks, in_words, mark, merged
from headgate.toolkit.outgoing import changed_steps

Values = Mapping[str, JsonValue]
MOST_STEPS_NAMED = 5

INSIDE = frozenset(
    {
        *("add_component", "remove_component", "connect_components", "disconnect_components", "configure_component"),
        *(
            "rename_component",
            "edit_flow",
            "group_components",
            "inline_flow",
            "build_flow",
            "undo",
            "propose_plan",
        ),
        *("propose_field_edit", "write_file", "edit_file", "save_tests", "upload_file"),
    }
)
"""Tools that only change the open draft, its tests and the user's files: no data leaves, and the user sees it."""
OWN = frozenset(
    {
        *("read_grammar", "read_flow", "get_field_value", "describe_flow_io", "dry_run", "list_models"),
        *("list_variables", "list_connections", "generate_component", "propose_component", "run_flow", "set_schedule"),
        *("list_flows", "extract_flow", "set_trigger"),
        *INSIDE,
    }
)
"""Tools whose results were written by the user, the model or Headgate. `run_flow`: `Workbench.ran` marks each run."""


def _path(arguments: Values, _answer: Values) -> Marks:
    return (mark("workspace", str(arguments.get("path") or arguments.get("pattern") or "")),)


def _earlier_runs(_arguments: Values, _answer: Values) -> Marks:
    return (mark("run"),)


def _events(_arguments: Values, _answer: Values) -> Marks:
    return (mark("event"),)


def _of_the_run(_arguments: Values, answer: Values) -> Marks:
    """Return the origins of a run; what its steps wait for may quote what they read."""
    marks, steps = answer.get("outside_content"), answer.get("steps")
    waits = isinstance(steps, list) and any(isinstance(step, dict) and "waits_for" in step for step in steps)
    origins = [str(origin) for origin in marks] if isinstance(marks, list) else []
    return merged([*origins, *([mark("run")] if waits else [])])


def _servers(_arguments: Values, answer: Values) -> Marks:
    servers = answer.get("servers")
    named = servers if isinstance(servers, list) else []
    return merged(
        mark("description", str(server["name"])) for server in named if isinstance(server, dict) and server.get("tools")
    )


def _api(arguments: Values, _answer: Values) -> Marks:
    return (mark("description", str(arguments.get("connection") or "")),)


_BRINGS: Mapping[str, Callable[[Values, Values], Marks]] = {
    "read_file": _path,
    "grep_search": _path,
    "glob_search": _path,
    "read_run": _of_the_run,
    "list_runs": _earlier_runs,
    "list_attention": _earlier_runs,
    "list_events": _events,
    "get_tests": _earlier_runs,
    "run_tests": _earlier_runs,
    "list_mcp_servers": _servers,
    "search_api_operations": _api,
    "read_api_operation": _api,
}
_CATALOGUE = frozenset({"search_components", "describe_component"})


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A tool call that was not made."""

    tool: str
    detail: str
    sources: Marks


@dataclass(slots=True)
class OutsideGate:
    """The marks of one request, and the check of its tool calls."""

    request: str = ""
    """The user's text: a run may take its input from it."""
    allowlist: frozenset[str] = frozenset()
    """Tools that the user allows in this request, independent of what was read before."""
    refused: list[RefusedCall] = field(default_factory=list)
    let_through: set[str] = field(default_factory=set)
    """Tools that were called only because the user allows them."""
    _marks: set[str] = field(default_factory=set)
    _clean: Flow | None = None

    @property
    def marks(self) -> Marks:
        """Return the origins of all content read so far."""
        return merged(self._marks)

    def add(self, marks: Iterable[str], flow: Flow) -> None:
        """Record untrusted content that was read with this flow open."""
        self._marks.update(marks)
        if self._marks and self._clean is None:
            self._clean = flow

    def brought(self, tool: str, arguments: Values, answer: Values, registry: Overlay, opened: Flow) -> Marks:
        """Return the origins of a result's content."""
        if tool in _CATALOGUE:
            return _documented(answer, registry, opened)
        if tool in _BRINGS:
            return _BRINGS[tool](arguments, answer)
        return _of_the_run(arguments, answer) if tool in OWN else (mark("more"),)

    def of_input(self, text: str, form: Values) -> Marks:
        """Return the marks of a run's input: none if every value comes from the user's text."""
        values = [
            text,
            *(answer if isinstance(answer, str) else orjson.dumps(answer).decode() for answer in form.values()),
        ]
        return () if all(value in self.request for value in values) else self.marks

    def require(self, tool: str, *, reads: bool, flow: Flow, registry: Overlay) -> None:
        """Raise `OutsideContentRefused` for a call with external effects that such content may have determined."""
        if not self._marks or reads or tool in INSIDE:
            return
        if tool in self.allowlist:
            self.let_through.add(tool)
            return
        why = "it may have decided the call"
        if tool in {"run_flow", "run_tests"}:
            before = self._clean if tool == "run_flow" else None
            steps = changed_steps(before or Flow(), flow, registry)
            if not steps:
                return
            named = ", ".join(f"'{step}'" for step in steps[:MOST_STEPS_NAMED])
            why = f"the flow reaches outside, by steps that were written after that: {named}"
            if tool == "run_tests":
                why = f"the flow reaches outside, and tests choose its inputs: {named}"
        detail = (
            f"'{tool}' was not called. Content from outside was read before it ({in_words(self.marks)}), and {why}."
        )
        self.refused.append(RefusedCall(tool, detail, self.marks))
        raise OutsideContentRefused(
            detail,
            remedy="Do not try it another way. Tell the user what should be done and why; the user allows it for one "
            "request, or does it in the studio.",
            outside=list(self.marks),
        )

    def as_json(self) -> dict[str, JsonValue]:
        """Return what the user sees: sources, and each refused call once."""
        sources: list[JsonValue] = []
        for kind, _, name in (origin.partition(":") for origin in self.marks):
            sources.append({"kind": kind, "name": name})
        refused: dict[str, JsonValue] = {call.tool: {"tool": call.tool, "detail": call.detail} for call in self.refused}
        return {"sources": sources, "refused": list(refused.values())}


def _documented(answer: Values, registry: Overlay, opened: Flow) -> Marks:
    """Return components whose description came with the flow, which others may have written."""
    carried = {node.type for node in opened.nodes if node.code is not None and node.type in registry.own}
    text = orjson.dumps(answer).decode() if carried else ""
    return merged(mark("component", name) for name in carried if name in text)
