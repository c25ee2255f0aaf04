"""A dry run in a terminal."""

from rich.markup import escape

from headgate.entrypoints.cli.output import console, table
from headgate.features.runs.preview.schemas import DryHost, DryRunOut, DryStep

_MARKS = {"error": "[red]✗[/]", "warning": "[yellow]![/]"}


def show_dry_run(outcome: DryRunOut) -> None:
    """Show the expected path, what it would access, and the findings."""
    rows = [_step(step) for step in outcome.path]
    if rows:
        console.print(table(("step", "component", "runs", "input", "model", "class"), rows))
    for step in outcome.path:
        if step.effect:
            console.print(f"[dim]{step.order}.[/] {escape(step.effect)}")
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


def _host(host: DryHost) -> str:
    return escape(host.host) if host.host else "an address that comes from data"
