"""`dry_run`: previews a run of the current flow without executing it."""

from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from headgate.features.access.principal import within
from headgate.features.runs.preview.calls import describe_call
from headgate.features.runs.preview.schemas import DryRunOut, DryRunStart, DryStep, DryWait
from headgate.foundation.checked import checked
from headgate.toolkit.tool import Params, Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_STEPS = 80
MOST_FINDINGS = 20


async def dry_run(
    bench: Workbench,
    input_value: str = "",
    form: Params | None = None,
    file_ids: list[str] = [],  # noqa: B006 - read by `define`, never changed
) -> Result:
    """Preview a run without executing it: steps, models, cost, hosts, secrets, problems.

    Args:
        input_value: Text input.
        form: Answers to the form.
        file_ids: Uploaded files.
    """
    stored = bench.stored
    if stored is None or stored.visit.studio.dry_runs is None:
        raise ToolRefused("A dry run is not available here.", remedy="Use describe_flow_io.")
    start = checked(DryRunStart, text=input_value, form_data=form, file_ids=file_ids)
    result = await stored.visit.studio.dry_runs.of(
        within(bench.principal, bench.space_id), bench.flow, start, flow_id=stored.flow_id or ""
    )
    return _answer(result)


def _answer(result: DryRunOut) -> Result:
    steps = list(_steps(result.path))
    answer: Result = {
        "ok": True,
        "would_run": result.ok,
        "findings": [finding.model_dump(exclude_defaults=True) for finding in result.findings[:MOST_FINDINGS]],
        "steps": steps[:MOST_STEPS],
        "hosts": [
            f"{host.step_id}: {host.host or 'known only in the run'} ({host.purpose})" for host in result.reach.hosts
        ],
        "secrets": [
            f"{secret.step_id}: {secret.name}{'' if secret.known else ' (missing)'}" for secret in result.reach.secrets
        ],
        "totals": result.totals.model_dump(),
    }
    omitted = {"findings": len(result.findings) - MOST_FINDINGS, "steps": len(steps) - MOST_STEPS}
    more: dict[str, JsonValue] = {name: number for name, number in omitted.items() if number > 0}
    if result.budgets:
        answer["budgets"] = [budget.model_dump(mode="json") for budget in result.budgets]
    return answer | ({"more": more} if more else {})


def _steps(path: Iterable[DryStep], indent: str = "") -> Iterator[JsonValue]:
    """Yield a line per step, below it those of the flows that it runs."""
    for step in path:
        yield indent + _step(step)
        for call in step.calls:
            yield f"{indent}  {describe_call(call)}"
            yield from _steps(call.preview.path if call.preview is not None else (), f"{indent}    ")


def _step(step: DryStep) -> str:
    inputs = "; ".join(f"{input_line.field} from {input_line.source}" for input_line in step.inputs)
    models = "; ".join(model.model if model.usable else f"{model.model} (not usable)" for model in step.models)
    line = f"{step.order}. {step.step_id} ({step.type}, {step.runs})"
    waits = _waits(step.waits_for) if step.waits_for is not None else ""
    return " | ".join(part for part in (line, inputs, f"asks {models}" if models else "", waits, step.effect) if part)


def _waits(wait: DryWait) -> str:
    """Return what a step waits for, with the event or moment and its length or limit in seconds."""
    details = [wait.event, wait.correlation, wait.until, wait.cron, *wait.tools]
    limit = "" if wait.seconds is None else f"{'' if wait.reason == 'time' else 'at most '}{wait.seconds:g} s"
    return " ".join(["waits for", wait.reason, *(part for part in (*details, limit) if part)])
