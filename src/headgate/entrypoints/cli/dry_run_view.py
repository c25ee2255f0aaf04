"""A dry run in a terminal."""

from rich.markup import escape

from headgate.entrypoints.cli.output import console, table
from headgate.features.runs.preview.schemas import DryHost, DryRunOut, DryStep

_MARKS = {"error": "[red]✗[/]", "warning": "[yellow]![/]"}


def show_dry_run(found: DryRunOut) -> None:
    """Show the expected path, what it would access, and the findings."""
    rows = [_step(step) for step in found.path]
    if rows:
        console.print(table(("step", "component", "runs", "input", "model", "class"), rows))
    for host in found.reach.hosts:
        console.print(f"[dim]reaches[/] {_host(host)} [dim]({host.purpose}, {host.step_id})[/]")
    for name in dict.fromkeys(one.name for one in found.reach.secrets):
        console.print(f"[dim]uses the variable[/] {escape(name)}")
    total = found.totals
    cost = "price not known" if total.cost_usd_at_least is None else f"${total.cost_usd_at_least:.6f}"
    if total.model_steps:
        console.print(f"[dim]at least {total.tokens_input_at_least} tokens of prompt, {cost}[/]")
    for one in found.findings:
        console.print(f"{_MARKS[one.severity]} {escape(one.message)} [dim]{escape(one.remedy)}[/]")
    if found.ok:
        console.print(f"[green]✓[/] {total.steps} steps, {total.certain_steps} of them certain. Nothing was run.")


def _step(step: DryStep) -> tuple[str, ...]:
    return (
        f"{step.order}. {escape(step.label)}",
        step.type,
        step.runs,
        escape("; ".join(f"{one.field} ← {one.source}" for one in step.inputs)),
        escape(", ".join(one.model for one in step.models)),
        escape(step.classification.name) if step.classification is not None else "",
    )


def _host(host: DryHost) -> str:
    return escape(host.host) if host.host else "an address that comes from data"
