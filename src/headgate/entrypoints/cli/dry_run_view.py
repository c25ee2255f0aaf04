"""A dry run in a terminal."""

from collections.abc import Sequence
from datetime import timedelta

from rich.markup import escape

from headgate.entrypoints.cli.output import console, table
from headgate.features.runs.preview.calls import describe_call
from headgate.features.runs.preview.schemas import DryHost, DryRunOut, DryStep, DryWait

_MARKS = {"error": "[red]✗[/]", "warning": "[yellow]![/]"}


def show_dry_run(outcome: DryRunOut) -> None:
    """Show the expected path, what it would access, and the findings."""
    rows = [_step(step) for step in outcome.path]
    if rows:
        console.print(table(("step", "component", "runs", "input", "model", "class"), rows))
    _show_steps(outcome.path)
    for host in outcome.reach.hosts:
        console.print(f"[dim]reaches[/] {_host(host)} [dim]({host.purpose}, {host.step_id})[/]")
    for name in dict.fromkeys(secret.name for secret in outcome.reach.secrets):
        console.print(f"[dim]uses the variable[/] {escape(name)}")
    total = outcome.totals
    cost = "price not known" if total.cost_usd_at_least is None else f"${total.cost_usd_at_least:.6f}"
    if total.model_steps:
        console.print(f"[dim]at least {total.tokens_input_at_least} tokens of prompt, {cost}[/]")
    _show_limits(outcome)
    for finding in outcome.findings:
        console.print(f"{_MARKS[finding.severity]} {escape(finding.message)} [dim]{escape(finding.remedy)}[/]")
    if outcome.ok:
        console.print(f"[green]✓[/] {total.steps} steps, {total.certain_steps} of them certain. Nothing was run.")


def _show_steps(path: Sequence[DryStep], above: str = "") -> None:
    """Show what each step does beyond computing, with the flows that it runs."""
    for step in path:
        order = f"{above}{step.order}."
        for line in (step.effect, _wait(step.waits_for), _limits(step), _policy(step)):
            if line:
                console.print(f"[dim]{order}[/] {escape(line)}")
        for call in step.calls:
            console.print(f"[dim]{order}[/] {escape(describe_call(call))}")
            if call.preview is not None:
                _show_called(call.preview, order)


def _show_called(preview: DryRunOut, above: str) -> None:
    for step in preview.path:
        asks = ", ".join(model.model for model in step.models)
        line = f"{step.label} ({step.type}, {step.runs})" + (f", calls {asks}" if asks else "")
        console.print(f"[dim]{above}{step.order}.[/] {escape(line)}")
        _show_steps([step], above)


def _show_limits(outcome: DryRunOut) -> None:
    if outcome.max_concurrent_runs is not None:
        console.print(f"[dim]runs at the same time:[/] {outcome.max_concurrent_runs}, {outcome.runs_ahead} ahead")
    for budget in outcome.budgets:
        of = "a run" if budget.scope == "run" else f"today, {budget.used:,.6g} used"
        console.print(f"[dim]budget of {of}:[/] {budget.limit:,.6g} {budget.kind}")


def _step(step: DryStep) -> tuple[str, ...]:
    return (
        f"{step.order}. {escape(step.label)}",
        step.type,
        step.runs,
        escape("; ".join(f"{input_line.field} ← {input_line.source}" for input_line in step.inputs)),
        escape(", ".join(model.model for model in step.models)),
        escape(step.classification.name) if step.classification is not None else "",
    )


def _wait(wait: DryWait | None) -> str:
    """Return what a step would wait for, and how long; empty for one that does not wait."""
    if wait is None:
        return ""
    if wait.reason == "event":
        what = f"the event '{wait.event}'" + (f" of {wait.correlation}" if wait.correlation else "")
    elif wait.reason == "approval":
        what = f"approval of calls of {', '.join(wait.tools)}" if wait.tools else "approval"
    else:
        moment = f"until {wait.until}" if wait.until else f"until the next moment of {wait.cron}"
        what = moment if wait.until or wait.cron else "" if wait.seconds else "for a time that the run decides"
    if wait.seconds is None:
        return f"Waits {what}." if wait.reason == "time" else f"Waits for {what}, without limit."
    length = str(timedelta(seconds=round(wait.seconds, 1)))
    if wait.reason == "time":
        return f"Waits {what}, at most {length}." if what else f"Waits for {length}."
    return f"Waits for {what}, at most {length}."


def _limits(step: DryStep) -> str:
    """Return the connections that few steps may use at the same time."""
    limits = [f"at most {limit.max} steps use the connection {limit.name}" for limit in step.connection_limits]
    return f"At the same time: {', '.join(limits)}." if limits else ""


def _policy(step: DryStep) -> str:
    """Return the attempts of a step, and what follows its failure; empty for one attempt that fails the run."""
    attempts = f"up to {step.max_attempts} attempts" if step.max_attempts > 1 else ""
    failing = {
        "fail": "",
        "default_value": "continues with a default value if it fails",
        "error_data": "continues with the error as data if it fails",
        "error_edge": "takes the error edge if it fails",
    }[step.on_error]
    text = ", ".join(part for part in (attempts, failing) if part)
    return f"{text[0].upper()}{text[1:]}." if text and step.disabled == "no" else ""


def _host(host: DryHost) -> str:
    return escape(host.host) if host.host else "an address that comes from data"
