"""Shows the steps of a run in a terminal as they happen."""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from headgate.entrypoints.cli.output import console
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.waiting import waiting_words

if TYPE_CHECKING:
    from headgate.toolkit.ports import RunOutcome

NAME_WIDTH = 32
_MARKS = {
    "step_completed": "[green]✓[/]",
    "step_failed": "[red]✗[/]",
    "step_skipped": "[dim]-[/]",
    "step_waiting": "[cyan]…[/]",
}


class RunView:
    """One line per ended step, and running ones below. Silent without a target.

    Live text of steps (`token`) is not shown, so a `gap` in it needs no mark: the result follows the steps.
    """

    def __init__(self, target: Console | None) -> None:
        self._console = target
        self._running: dict[str, str] = {}
        self._status: Status | None = None
        self._streaming = False

    def __enter__(self) -> Self:
        if self._console is not None and self._console.is_terminal:
            self._status = self._console.status("starting")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def stage(self, message: str) -> None:
        """Show the current activity."""
        if self._status is not None:
            self._status.start()
            self._status.update(f"[dim]{escape(message)}[/]")

    def pause(self) -> None:
        """Get out of the way of text that is being written."""
        if self._status is not None:
            self._status.stop()

    def show(self, kind: str, data: Mapping[str, Any]) -> None:
        """Take one event of the run."""
        if self._console is None:
            return
        name = str(data.get("label") or data.get("step_id") or "")
        if kind == "step_started":
            self._running[str(data["step_id"])] = name
        elif kind in _MARKS:
            self._running.pop(str(data.get("step_id")), None)
            self._console.print(self._line(kind, name, data))
        if self._status is not None:
            working = ", ".join(escape(label) for label in self._running.values())
            self._status.update(f"[dim]working on[/] {working}" if working else "[dim]working[/]")

    def _line(self, kind: str, name: str, data: Mapping[str, Any]) -> str:
        type_ = escape(str(data.get("type", "")))
        head = f"  {_MARKS[kind]} {escape(clipped(name)):<{NAME_WIDTH}} [dim]{type_:<18}[/]"
        if kind == "step_skipped":
            return f"{head} [dim]skipped[/]"
        if kind == "step_failed":
            return f"{head} [red]{escape(str(data.get('message', '')))}[/]"
        if kind == "step_waiting":
            until = escape(str(data.get("until") or ""))
            if data.get("reason") == "retry":
                attempt, most = int(data.get("failures", 0)) + 1, data.get("max_attempts")
                failed = escape(str(data.get("message", "")))
                return f"{head} [yellow]{failed}[/] [dim]attempt {attempt} of {most} at {until}[/]"
            return f"{head} [dim]waits for {waiting_words(data.get('reason'), until)}[/]"
        time = f"{float(data.get('ms') or 0):>8.0f} ms"
        tokens = (data.get("tokens_input") or 0) + (data.get("tokens_output") or 0)
        return f"{head} [dim]{time}{f'  {tokens} tokens' if tokens else ''}[/]"


def show_text(run: RunOut) -> None:
    """The text of a run's result; of one that is an artifact the beginning, and the command that prints all of it."""
    if not run.text:
        return
    console.print(run.text, markup=False)
    if run.truncated:
        console.print(
            f"[dim]... shortened: the beginning of {run.size_bytes:,} bytes. All: headgate runs text {run.id}[/]"
        )


def show_outcome(outcome: "RunOutcome") -> None:
    """Show the outcome of a run: outputs, files, time and tokens."""
    if outcome.error:
        console.print(f"\n[red]The run {outcome.status}:[/] {escape(outcome.error)}")
    names = {file["name"] for file in outcome.files}
    for step, value in outcome.outputs.items():
        if value in names:
            continue
        console.print(f"\n[bold]{escape(step)}[/]")
        console.print(_as_text(value), markup=False)
    for file in outcome.files:
        console.print(
            f"\n[bold]{escape(str(file['name']))}[/] [dim]{file['size']} bytes: headgate runs download {file['id']}[/]"
        )
    tokens = outcome.input_tokens + outcome.output_tokens
    console.print(f"\n[dim]run {outcome.status} in {outcome.duration_ms} ms, {tokens} tokens[/]")


_WAITS = {
    "approval": "It waits for approval: headgate approvals list, then approve or reject. Run {run_id}.",
    "breakpoint": "It is stopped at a breakpoint: headgate runs continue {run_id} --then breakpoints, next or end.",
    "event": "It waits for an event: headgate runs show {run_id} names the step, headgate events send continues it.",
}


def show_next(outcome: "RunOutcome", flow_id: str) -> None:
    """Show possible next commands for the run and its flow."""
    console.print(f"[dim]flow {flow_id}: headgate runs list --flow {flow_id}[/]")
    if outcome.status == "failed":
        console.print(f"[dim]after fixing the cause: headgate runs resume {outcome.run_id}[/]")
    if outcome.status == "waiting":
        console.print(_WAITS[outcome.waits_for or "approval"].format(run_id=outcome.waiting_run_id or outcome.run_id))
        console.print("[dim]A running server or worker continues it.[/]")
    console.print(f"[dim]evidence: headgate runs evidence {outcome.run_id}[/]")


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def clipped(name: str) -> str:
    """A name cut to the column."""
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1] + "…"
