"""The tool that runs the working flow."""

from typing import Annotated, cast

from pydantic import AliasChoices, Field, JsonValue

from headgate.foundation.errors import HeadgateError
from headgate.graph.own_code import is_unchecked
from headgate.sandbox.reading.scan import scan_component
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.tool import Params, Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_FINDINGS = 5
LONGEST_WAIT_SECONDS = 30.0
"""A run that waits for a later time is not waited for."""
_WAITS = {
    "approval": "The run waits for approval: a user decides in the inbox of the page, then it continues.",
    "event": "The run waits for an event. It continues when a user, a program or a flow with SendEvent sends it.",
}
SHOWN_CHARACTERS = 4_000
"""Characters per output of a run in a result for a model or an MCP client."""


InputValue = Annotated[str, Field(validation_alias=AliasChoices("input_value", "text"))]
"""The name in seed 000; `text`, as components call it, is accepted too."""


async def run_flow(
    bench: Workbench,
    input_value: InputValue = "",
    form: Params = {},  # noqa: B006 - read by `define`, never changed
    file_ids: list[str] = [],  # noqa: B006
) -> Result:
    """Save the flow, run it and wait for its result.

    Args:
        input_value: Text input.
        form: Answers to the form, by field id.
        file_ids: Uploaded files.
    """
    if bench.runner is None:
        raise ToolRefused(
            "Flows cannot be run here.", remedy=("Ask the user to run it in the studio or with `headgate run`.")
        )
    if not bench.flow.nodes:
        raise ToolRefused("There is no flow to run yet.", remedy="Build one first.")
    flow = bench.flow
    try:
        _require_known_code(bench)
        outcome = await bench.runner.run(
            flow,
            text=input_value,
            form=form,
            file_ids=tuple(file_ids),
            outside=bench.outside.of_input(input_value, form),
        )
    except HeadgateError as error:
        bench.not_run = error.detail
        raise
    bench.ran(outcome, flow)
    return _left_out(bench) | _as_result(outcome)


async def save_flow(bench: Workbench, *, to_run: bool) -> None:
    """Store the flow, so that tests and runs use its current state instead of an earlier draft.

    Args:
        bench: The workbench; nothing happens where it cannot store flows.
        to_run: Whether the flow will be run: code that was not checked is refused.
    """
    if not bench.flow.nodes:
        raise ToolRefused("There is no flow to test yet.", remedy="Build one first.")
    if to_run:
        _require_known_code(bench)
    flow = bench.flow
    if bench.save is not None and await bench.save(flow):
        bench.saved(flow)


def metrics(outcome: RunOutcome) -> dict[str, JsonValue]:
    """Return duration in seconds and tokens of a run (seed 000 ADR-MCP-033)."""
    return {
        "duration_seconds": outcome.duration_ms / 1000,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "total_tokens": outcome.input_tokens + outcome.output_tokens,
    }


def waiting_note(outcome: RunOutcome) -> str:
    """Return what a waiting run waits for and how it continues, for a model."""
    what = _WAITS.get(outcome.waits_for, "The run waits for a time and continues by itself.")
    until = f" At the latest: {outcome.waits_until}." if outcome.waits_until else ""
    run_id = outcome.waiting_run_id or outcome.run_id
    return f"{what}{until} Do not run it again; read_run of {run_id} says more, and shows its result later."


def shown_outputs(outcome: RunOutcome) -> dict[str, JsonValue]:
    """Return the outputs for a model or an MCP client, long ones truncated and marked."""
    return {
        step: _beginning(value, outcome.run_id) if isinstance(value, str) else value
        for step, value in outcome.outputs.items()
    }


def _beginning(text: str, run_id: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    where = f"read_run with run_id='{run_id}' returns it in pages."
    return f"{text[:SHOWN_CHARACTERS]}\n... [shortened: {len(text):,} characters in total. {where}]"


def _as_result(outcome: RunOutcome) -> Result:
    answer: Result = {
        "ok": outcome.status in {"completed", "waiting"},
        "status": outcome.status,
        "run_id": outcome.run_id,
        "outputs": shown_outputs(outcome),
        "files": cast("list[JsonValue]", outcome.files),
        **metrics(outcome),
    }
    if outcome.outside:
        answer["outside_content"] = list(outcome.outside)
    if outcome.status == "waiting":
        answer["note"] = waiting_note(outcome)
    if outcome.error:
        answer["error"] = outcome.error
        answer["remedy"] = "Correct the step it names and run again."
    return answer


def _left_out(bench: Workbench) -> Result:
    """Return a note on pending edits, which the run did not contain."""
    waiting = len(bench.proposals)
    return {"note": f"{waiting} proposed edits wait for the user; this run did not have them."} if waiting else {}


def _require_known_code(bench: Workbench) -> None:
    """Refuse to run custom code that was not checked in its current form (seed 000 ADR-MCP-040)."""
    strange = [node for node in bench.flow.nodes if is_unchecked(node, bench.registry)]
    if not strange:
        return
    problems = [f"'{node.id}': {finding.message}" for node in strange for finding in scan_component(node.code or "")]
    if problems:
        bench.watch.unsafe_code_blocked([node.id for node in strange])
        raise ToolRefused(
            f"Refused to run: unsafe component code detected — {' '.join(problems[:MOST_FINDINGS])}",
            remedy="Tell the user; take the node out, or make a component that does without it.",
        )
    named = ", ".join(f"'{node.id}' ({node.type})" for node in strange)
    raise ToolRefused(
        f"Refused to run: the code of {named} was never checked here.",
        remedy="Call propose_component with the code; once the user has accepted it, run again.",
    )
