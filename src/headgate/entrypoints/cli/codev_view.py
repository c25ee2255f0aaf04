"""What `headgate codev` shows of a session while it works: phases, tools, writes, trials and tokens."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from headgate.entrypoints.cli.printable import printable

PHASES = {
    "clarify": "Understanding the request",
    "discover": "Checking what exists",
    "check_credentials": "Checking credentials",
    "plan": "Planning",
    "approve_plan": "Waiting for approval of the plan",
    "patch": "Building",
    "test": "Testing",
    "converge": "Judging",
    "review": "Waiting for review of the result",
    "done": "Done",
}
_LONGEST = 160
_TAIL = 60


class SessionView:
    """One line per event, and the current activity below. Silent without a target."""

    def __init__(self, target: Console | None) -> None:
        self._console = target
        self._status: Status | None = None
        self._doing = "starting"
        self._words = ""
        self._tokens = 0
        self._phase = ""
        self._tools: dict[str, str] = {}

    def __enter__(self) -> Self:
        if self._console is not None and self._console.is_terminal:
            self._status = self._console.status(self._doing)
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, kind: str, data: Mapping[str, Any]) -> None:
        """Take one event."""
        if self._console is None:
            return
        line = self._line(kind, data)
        if line:
            self._console.print(line)
        if self._status is not None:
            tokens = f" [dim]{self._tokens} tokens[/]" if self._tokens else ""
            words = f" [dim]{escape(self._words)}[/]" if self._words else ""
            self._status.update(f"[dim]{escape(self._doing)}[/]{tokens}{words}")

    def _line(self, kind: str, data: Mapping[str, Any]) -> str:
        lines: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
            "phase": self._show_phase,
            "token": self._hear,
            "tool_call": self._call,
            "tool_result": self._result,
            "write": _write,
            "trial": _trial,
            "verdict": _verdict,
            "usage": self._count,
            "conflict": _conflict,
            "webhook": _webhook,
            "error": _error,
        }
        return lines[kind](data) if kind in lines else ""

    def _show_phase(self, data: Mapping[str, Any]) -> str:
        name, iteration = str(data.get("phase", "")), data.get("iteration") or 1
        self._doing, self._words = PHASES.get(name, name), ""
        again = f" [dim](plan {_short(iteration)})[/]" if iteration != 1 else ""
        line = f"[bold]{escape(self._doing)}[/]{again}"
        if line == self._phase:
            return ""
        self._phase = line
        return line

    def _hear(self, data: Mapping[str, Any]) -> str:
        self._words = " ".join((self._words + printable(str(data.get("text", "")))).split())[-_TAIL:]
        return ""

    def _call(self, data: Mapping[str, Any]) -> str:
        self._tools[str(data.get("id"))] = _values(data.get("arguments"))
        self._doing = str(data.get("name", ""))
        return ""

    def _result(self, data: Mapping[str, Any]) -> str:
        mark = "[green]✓[/]" if data.get("ok") else "[yellow]×[/]"
        given = self._tools.pop(str(data.get("id")), "")
        preview = "" if data.get("ok") else f" {_short(data.get('preview'))}"
        time = f" [dim]{float(data.get('ms') or 0):.0f} ms[/]"
        return f"  {mark} {_short(data.get('name'))} [dim]{given}[/]{preview}{time}"

    def _count(self, data: Mapping[str, Any]) -> str:
        self._tokens = int(data.get("input_tokens") or 0) + int(data.get("output_tokens") or 0)
        return ""


def _write(data: Mapping[str, Any]) -> str:
    state = str(data.get("state", ""))
    mark = {"done": "[green]wrote[/]", "refused": "[yellow]not written[/]", "rolled_back": "[cyan]rolled back[/]"}
    return f"  {mark.get(state, escape(state))} {_short(data.get('number'))}: {_short(data.get('summary'))}"


def _trial(data: Mapping[str, Any]) -> str:
    mark = "[green]✓[/]" if data.get("passed") else "[red]✗[/]"
    of = f" [dim]of {_short(data.get('of'))}[/]" if data.get("of") else ""
    why = "" if data.get("passed") else f" {_short(missed(data))}"
    time = f" [dim]{float(data.get('duration_ms') or 0):.0f} ms[/]"
    return f"  {mark} test {_short(data.get('case'))}, trial {_short(data.get('trial'))}{of}{why}{time}"


def _verdict(data: Mapping[str, Any]) -> str:
    if data.get("done"):
        return "  [green]every trial passed[/]"
    return f"  [yellow]not yet[/] ({_short(data.get('category'))}): {_short(data.get('reason'))}"


def _webhook(data: Mapping[str, Any]) -> str:
    return "" if data.get("delivered") else f"  [yellow]webhook not delivered:[/] {_short(data.get('message'))}"


def _conflict(data: Mapping[str, Any]) -> str:
    return f"  [yellow]! {_short(data.get('message'))}[/]"


def _error(data: Mapping[str, Any]) -> str:
    return f"[red]{_short(data.get('message'))}[/] {_short(data.get('remedy'))}"


def missed(trial: Mapping[str, Any]) -> str:
    """Why a trial did not pass, in a sentence."""
    error = str(trial.get("error") or "")
    return error or "the answer " + "; ".join(str(miss) for miss in trial.get("misses") or ["did not pass"])


def _short(value: object) -> str:
    text = " ".join(("" if value is None else str(value)).split())
    return escape(printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"))


def _values(arguments: object) -> str:
    """Abbreviate arguments."""
    if not isinstance(arguments, Mapping):
        return ""
    shown = ", ".join(str(argument) for argument in arguments.values() if isinstance(argument, str | int | float))
    return _short(shown[:_TAIL])
