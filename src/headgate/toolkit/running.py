"""The tool that runs the working flow."""

from typing import cast

from pydantic import JsonValue

from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench


async def run_flow(bench: Workbench, text: str = "", form: dict[str, JsonValue] = {}) -> Result:  # noqa: B006 - read by `define`, never changed
    """Run the flow and wait for its result. It is saved first; the run is kept as evidence like any other.

    Args:
        text: Text input of the run; empty when the flow needs none.
        form: Answers to the flow's form, by field id.
    """
    if bench.runner is None:
        raise ToolRefused("Flows cannot be run here.", remedy="Ask for the run in the studio or with `headgate run`.")
    if not bench.flow.nodes:
        raise ToolRefused("There is no flow to run yet.", remedy="Build one first.")
    outcome = await bench.runner.run(bench.flow, text=text, form=form)
    bench.runs.append(outcome)
    answer: Result = {
        "ok": outcome.status == "completed",
        "status": outcome.status,
        "run_id": outcome.run_id,
        "outputs": outcome.outputs,
        "files": cast("list[JsonValue]", outcome.files),
        "duration_ms": outcome.duration_ms,
        "tokens": outcome.input_tokens + outcome.output_tokens,
    }
    if outcome.error:
        answer["error"] = outcome.error
        answer["remedy"] = "Correct the step it names and run again."
    return answer
