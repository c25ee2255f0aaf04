"""`headgate runs resume` and `headgate runs rerun`."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table
from headgate.entrypoints.cli.run_view import show_text
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.flows.summaries import Wanted
from headgate.features.runs import service
from headgate.features.runs.schemas import RunOut
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.runs.reruns import schemas, views
    from headgate.features.runs.reruns import service as reruns
else:
    schemas = lazy_module("headgate.features.runs.reruns.schemas")
    reruns = lazy_module("headgate.features.runs.reruns.service")
    views = lazy_module("headgate.features.runs.reruns.views")

_NAMED: dict[str, Wanted] = {"draft": "draft", "published": "published"}
RunId = Annotated[str, typer.Argument(help="Id of the run.")]
Version = Annotated[
    str | None, typer.Option(help="draft, published, or a version number. Default: the version of the run.")
]


def resume(run_id: RunId, version: Version = None, json: JsonFlag = False) -> int:
    """Resume a failed run at its failed step; completed steps are not executed again. Exit code 1 if it fails."""

    async def work(parts: Parts) -> int:
        chosen = wanted_of(version)
        resumption = await reruns.resume_run(parts.database, parts.engine, acting(), run_id, version=chosen)
        if not json:
            console.print(escape(resumption.reason))
        await parts.engine.wait(resumption.key.run_id)
        run = await service.get_run(parts.engine, acting(), resumption.key.run_id)
        if json:
            members = {"how": resumption.how, "reason": resumption.reason, "from_step": resumption.from_step}
            print_json(schemas.ResumeOut(**members, changed_step=resumption.changed_step, run=run))
        else:
            _show_end(run)
        return OK if run.status == "completed" else FAILED

    return with_parts(work)


def rerun(
    run_id: RunId,
    from_: Annotated[str | None, typer.Option("--from", help="Execute this step and all later ones again.")] = None,
    text: Annotated[str | None, typer.Option(help="New text input.")] = None,
    form: Annotated[list[str] | None, typer.Option(help="New form answer as field=value; field= removes it.")] = None,
    version: Version = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show which steps would be executed again and the cost.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Rerun a past run with edits; valid results are reused. First shows which steps are executed and the cost."""
    answers = _answers(form or [])
    request = checked(schemas.RerunPlanStart, from_step=from_, text=text, form_data=answers, version=wanted_of(version))

    async def work(parts: Parts) -> int:
        plan = views.rerun_plan(await reruns.plan_rerun(parts.database, parts.engine, acting(), run_id, request))
        if not json:
            show_plan(plan)
        if dry_run:
            if json:
                print_json(plan)
            return OK
        started = await reruns.rerun(parts.database, parts.engine, acting(), run_id, request)
        await parts.engine.wait(started.request.key.run_id)
        run = await service.get_run(parts.engine, acting(), started.request.key.run_id)
        if json:
            print_json({"plan": plan.model_dump(mode="json"), "run": run.model_dump(mode="json")})
        else:
            _show_end(run)
        return OK if run.status == "completed" else FAILED

    return with_parts(work)


def add_commands(app: typer.Typer) -> None:
    """Put both under `headgate runs`."""
    app.command()(resume)
    app.command()(rerun)


def wanted_of(version: str | None) -> Wanted | None:
    """Return a version argument. Raises `Invalid`."""
    if version is None:
        return None
    if version in _NAMED:
        return _NAMED[version]
    if version.isascii() and version.isdigit() and int(version) > 0:
        return int(version)
    raise Invalid(f"'{version}' is no version.", remedy="Use draft, published or a number.")


def show_plan(plan: "schemas.RerunPlanOut") -> None:
    """Show what would be reused and executed again, and the cost."""
    rows = [
        (
            escape(step.label),
            step.type,
            "[green]reused[/]" if step.reuse else "[yellow]again[/]",
            escape(step.reason),
            *_cost(step.cost),
        )
        for step in plan.steps
    ]
    console.print(table(("step", "component", "", "because", "tokens", "cost", "took"), rows))
    tokens, usd, ms = _cost(plan.redo)
    price = "at an unknown price" if usd == "?" else f"for {usd}"
    unknown = f" No data for: {', '.join(plan.unknown)}." if plan.unknown else ""
    console.print(f"The steps that run again took {tokens} tokens {price} and {ms} in the past run.{unknown}")


def _cost(cost: "schemas.CostOut") -> tuple[str, str, str]:
    tokens = (cost.tokens_input or 0) + (cost.tokens_output or 0)
    known = cost.tokens_input is not None or cost.tokens_output is not None
    usd = "?" if cost.usd is None else f"${cost.usd:.4f}"
    return str(tokens) if known else "?", usd, "?" if cost.ms is None else f"{cost.ms:.0f} ms"


def _answers(form: list[str]) -> dict[str, str | None] | None:
    """Return answers by field; an empty one removes it. Raises `Invalid`."""
    answers: dict[str, str | None] = {}
    for answer in form:
        name, equals, value = answer.partition("=")
        if not equals or not name:
            raise Invalid(f"'{answer}' is no answer.", remedy="Write field=value.")
        answers[name] = value or None
    return answers or None


def _show_end(run: RunOut) -> None:
    console.print(f"[bold]{run.id}[/] {run.status} [dim]version {run.version}[/]")
    if run.error is not None:
        console.print(f"[red]{escape(run.error.message)}[/] [dim]{run.error.code}[/]")
    show_text(run)
    if run.status == "failed":
        console.print(f"[dim]after fixing the cause: headgate runs resume {run.id}[/]")
    console.print(f"[dim]steps: headgate runs show {run.id}[/]")
