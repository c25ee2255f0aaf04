"""Output of `headgate ask` for a turn: progress, proposals, results and verified changes."""

import sys
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import orjson
from rich.markup import escape

from headgate.agents.assistant.models.choice import OFFLINE_NAME
from headgate.entrypoints.cli.component_checks import reach_lines
from headgate.entrypoints.cli.exit_codes import DECLINED, FAILED, OK, WAITING
from headgate.entrypoints.cli.output import console
from headgate.entrypoints.cli.run_view import RunView, show_outcome
from headgate.foundation.lazy import lazy_module
from headgate.toolkit.ports import SavedComponent

if TYPE_CHECKING:
    from rich import markdown, panel, syntax
else:
    markdown = lazy_module("rich.markdown")
    panel = lazy_module("rich.panel")
    syntax = lazy_module("rich.syntax")

_SHOWN_ACTIONS = {
    "add_component": "+ {node[id]} ({node[type]})",
    "remove_component": "- {component_id}",
    "connect": "→ {edge[source]}.{edge[output]} -> {edge[target]}.{edge[input]}",
    "disconnect": "× {edge[source]}.{edge[output]} -> {edge[target]}.{edge[input]}",
    "configure": "= {component_id}: {params}",
    "rename_component": "~ {component_id} is now {new_id}",
}

_MAKING = frozenset({"build_flow", "component_then_flow", "generate_component"})
"""Intents that leave something behind when they are done."""


class Conversation:
    """Renders the events of a turn, and keeps pending proposals."""

    def __init__(self, *, quiet: bool) -> None:
        self.view = RunView(None if quiet else console)
        self.final: dict[str, Any] = {}
        self.edits: list[dict[str, Any]] = []
        """Proposed and not yet accepted."""
        self.plan = ""
        """Proposed and not yet approved."""
        self.component: dict[str, Any] = {}
        """Proposed and not yet saved."""
        self.said = ""
        """Text of the assistant during the turn."""
        self._quiet = quiet
        self._open = False
        self._drawn = ""

    @property
    def data(self) -> dict[str, Any] | None:
        """Return the data of `complete`; None when the turn ended otherwise."""
        answer: dict[str, Any] | None = self.final.get("data") if self.final.get("event") == "complete" else None
        return answer

    @property
    def exit_code(self) -> int:
        """Return 0 only if the complete request succeeded; see `exit_codes`."""
        data = self.data
        if data is None:
            return FAILED
        if data["declined"] or data["intent"] == "off_topic":
            return DECLINED
        if data["stopped"] or data.get("run_status", "completed") != "completed" or _is_unverified(data):
            return FAILED
        if self.edits or self.plan or self.component:
            return WAITING
        return DECLINED if data["note"] or _is_undone(data) else OK

    @property
    def answerable(self) -> bool:
        """Whether a user is present to answer questions."""
        return not self._quiet and console.is_terminal and sys.stdin.isatty()

    def begin(self) -> None:
        """Start another turn: pending proposals are decided."""
        self.final, self.edits, self.plan, self.component, self.said = {}, [], "", {}, ""

    def saved_component(self, saved: SavedComponent) -> None:
        """A proposed component was saved."""
        self.component = {}
        if self._quiet:
            return
        console.print(f"[green]Saved[/] {saved.checked.type}.")
        if not saved.stored:
            console.print(f"[yellow]Later requests cannot use it:[/] {escape(saved.not_kept)}")

    def end_line(self) -> None:
        """Start a new line if the last one is incomplete."""
        if self._open:
            console.print()
            self._open = False

    def show(self, event: dict[str, Any]) -> None:
        """Take one event."""
        kind = event["event"]
        if kind in {"complete", "error", "cancelled"}:
            self.final = event
        if event.get("action") == "edit_field":
            self.edits.append(event)
        elif event.get("action") == "propose_plan":
            self.plan = event["markdown"]
        elif event.get("action") == "propose_component":
            self.component = event
        if not self._quiet:
            self._show_event(kind, event)

    def _show_event(self, kind: str, event: dict[str, Any]) -> None:
        if kind == "token":
            self.view.pause()
            console.print(event["chunk"], end="", markup=False)
            self.said += event["chunk"]
            self._open = True
            return
        self.end_line()
        if kind == "run_update":
            self.view.show(event["kind"], event["data"])
        elif kind == "progress":
            self._progress(event)
        elif kind == "flow_preview":
            if event["graph"] != self._drawn:
                console.print(f"\n{event['graph']}\n", markup=False)
            self._drawn = event["graph"]
        elif kind == "flow_update":
            _show_update(event)
        elif kind == "file_written":
            console.print(f"  {event['action']} {event['path']} ({event['size']} bytes)", markup=False)
        elif kind == "complete":
            self._rest(event["data"])
        elif kind == "error":
            _show_error(event)

    def _rest(self, data: dict[str, Any]) -> None:
        """Return the part of the answer that was not shown yet: a refusal, or a failed run."""
        caveat = (data.get("verification") or {}).get("caveat", "")
        if not self.said.strip() and not data.get("component_code"):
            console.print(data["result"], markup=False)
        elif caveat and caveat not in self.said and data["model"] != OFFLINE_NAME:
            console.print(f"[yellow]{escape(caveat)}[/]")

    def _progress(self, event: dict[str, Any]) -> None:
        attempt = f" ({event['attempt']} of {event['max_attempts']})" if event.get("max_attempts", 1) > 1 else ""
        self.view.stage(event["message"] + attempt)
        if event["step"] == "validation_failed":
            console.print(f"  [yellow]not yet:[/] {escape(event.get('error', ''))}")


def _is_unverified(data: dict[str, Any]) -> bool:
    """Whether the flow was to be run and, as it now is, has not run to its end."""
    return bool((data.get("verification") or {}).get("caveat"))


def _is_undone(data: dict[str, Any]) -> bool:
    """Whether something was requested and nothing was done: a model may refuse in text only."""
    return data["intent"] in _MAKING and not (data["done"] or data.get("component_code") or data["edits"])


def _show_error(event: dict[str, Any]) -> None:
    console.print(f"[red]{escape(event['message'])}[/] {escape(event.get('remedy', ''))}")
    if (event.get("usage") or {}).get("total_tokens"):
        console.print(f"[dim]{_costs(event)}[/]")
    changes = event.get("changes") or ()
    if changes:
        console.print("These changes of the turn are stored:")
    for line in changes:
        console.print(f"  {line}", markup=False)
    if event.get("flow_id"):
        console.print(f"[dim]flow {event['flow_id']}[/]")


def _show_update(event: dict[str, Any]) -> None:
    if event["action"] in _SHOWN_ACTIONS:
        console.print("  " + _SHOWN_ACTIONS[event["action"]].format(**event), markup=False)
    elif event["action"] == "edit_field":
        console.print()
        console.print(f"Proposed for {event['component_id']}.{event['field']}: {event['description']}", markup=False)
        console.print(syntax.Syntax("\n".join(edit_lines(event)), "diff", background_color="default", word_wrap=True))
    elif event["action"] == "propose_plan":
        plan = markdown.Markdown(event["markdown"])
        console.print(panel.Panel(plan, title="A plan", subtitle="headgate ask ... --approve"))
    elif event["action"] == "propose_component":
        console.print(f"\nProposed component {event['class_name']}, not saved:", markup=False)
        show_code(event["code"])
        for line in reach_lines(event["reach"]):
            console.print(f"  {line}", markup=False)
        if event["note"]:
            console.print(f"  {event['note']}", markup=False)


def edit_lines(event: dict[str, Any]) -> list[str]:
    """A proposed edit as the lines of a difference."""
    old, new = (_as_text(event[name]).splitlines() for name in ("old_value", "new_value"))
    return [line.rstrip("\n") for line in list(unified_diff(old, new, n=2, lineterm=""))[2:]]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def conclude(data: dict[str, Any], *, accepted: int, waiting: int, plan: bool, component: bool) -> None:
    """Show the actual results, read from the flow and the run instead of the model's text."""
    if data.get("component_code"):
        _show_component(data, waiting=component)
    if data.get("run") is not None:
        show_outcome(data["run"])
    if data.get("note"):
        console.print(f"[yellow]{escape(data['note'])}[/]")
    for issue in data["issues"]:
        console.print(f"[yellow]to fix:[/] {escape(issue['message'])} [dim]{escape(issue.get('remedy', ''))}[/]")
    if data["kept_version"] is not None:
        command = f"headgate flows restore {data['flow_id']} {data['kept_version']}"
        console.print(f"[yellow]The flow was replaced.[/] To restore the previous flow: {command}")
    if accepted:
        console.print(f"{accepted} proposed {'edit' if accepted == 1 else 'edits'} accepted.")
    if waiting:
        console.print(f"[yellow]{waiting} proposed {'edit waits' if waiting == 1 else 'edits wait'}[/]: add --accept.")
    if plan:
        console.print("[yellow]The plan is waiting for approval.[/] Repeat the request with --approve to build it.")
    _show_changes(data)
    _show_costs(data)


def show_code(code: str) -> None:
    """The source of a component."""
    console.print(syntax.Syntax(code, "python", background_color="default", word_wrap=True))


def _show_component(data: dict[str, Any], *, waiting: bool) -> None:
    name = data.get("class_name") or "The component"
    if data["validated"]:
        if waiting:
            console.print(
                "[yellow]The component is not saved.[/] Repeat the request with --accept, or save the code to a file:"
            )
            console.print("[dim]headgate components register FILE[/]")
        else:
            console.print(f'[dim]Use it: headgate ask "build a flow with {name} ..."[/]')
    else:
        show_code(data["component_code"])
        console.print(f"{name}: It did not pass its checks.", markup=False)
        console.print("[dim]Describe the input and output more exactly, or fix the code in a file and[/]")
        console.print("[dim]check it: headgate components check FILE[/]")


def _show_changes(data: dict[str, Any]) -> None:
    if data["changes"]:
        console.print("\nChanged:" if data["saved"] else "\nProposed, not saved:")
        for line in data["changes"]:
            console.print(f"  {line}", markup=False)
        if data["saved"] and data["revision"] != 1:
            console.print(f"[dim]undo: headgate flows undo {data['flow_id']}[/]")


def _costs(data: dict[str, Any]) -> str:
    """Return the model and its usage."""
    parts = [f"{data['model']}", f"{data['usage']['total_tokens']} tokens", f"{data['duration_seconds']:.2f} s"]
    cost = (data.get("cost") or {}).get("usd")
    return " · ".join([*parts, f"${cost:.4f}"] if cost is not None else parts)


def _show_costs(data: dict[str, Any]) -> None:
    console.print(f"\n[dim]{_costs(data)}[/]")
    if data["flow_id"]:
        saved = f"revision {data['revision']}" if data["saved"] else "not saved"
        console.print(f"[dim]flow {data['flow_id']} ({saved})[/]")
    if data.get("run_id"):
        console.print(f"[dim]evidence: headgate runs evidence {data['run_id']}[/]")
