"""The context of `{{...}}`: the run's input and the outputs of earlier steps."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from pydantic import JsonValue

from headgate.graph.plan import Plan
from headgate.graph.wiring import FILE_IDS, FLOW_INPUT, MAIN_OUTPUT


class RunInputLike(Protocol):
    """The input of a run: its text and form answers."""

    @property
    def text(self) -> str:
        """Free text; may be empty."""

    @property
    def form_data(self) -> Mapping[str, JsonValue]:
        """Form field id to answer."""


def build_context(
    run_input: RunInputLike,
    results: Mapping[str, Mapping[str, JsonValue]],
    plan: Plan,
    step: str | None = None,
) -> dict[str, JsonValue]:
    """Return the context of one step.

    Args:
        run_input: Text and form answers of the run.
        results: Node id to output name to JSON value, of the finished steps. A skipped step has no entry.
        plan: Provides aliases and main outputs.
        step: The step that reads the context. It then contains only the steps before it in the graph, so that the
            timing of a parallel branch never changes a result. None: every finished step.

    Returns:
        `flow_input`, and each step under its alias (`step_2`) and its node id; an id wins over a like-named alias.
    """
    seen = plan.ancestors(step) if step is not None else [earlier_step.id for earlier_step in plan.steps]
    entries = {key: step_entry(results[key], plan.step(key).main_output) for key in seen if key in results}
    context: dict[str, JsonValue] = {FLOW_INPUT: flow_input_entry(run_input)}
    context |= {plan.step(key).alias: entry for key, entry in entries.items()}
    return context | entries


def flow_input_entry(run_input: RunInputLike) -> dict[str, JsonValue]:
    """Return the value of `flow_input`: the form's answers, and the free text unless the form has a field `text`."""
    return {"text": run_input.text, **run_input.form_data}


def step_entry(outputs: Mapping[str, JsonValue], main_output: str | None) -> dict[str, JsonValue]:
    """The value of a step's id: each output by name, the main one as `output`, its files' ids as `file_ids` too."""
    ids = dict.fromkeys(file_id for value in outputs.values() for file_id in _file_ids(value))
    entry: dict[str, JsonValue] = {FILE_IDS: ",".join(ids), **outputs}
    if main_output is not None and main_output in entry:
        entry[MAIN_OUTPUT] = entry[main_output]
    return entry


def _file_ids(value: JsonValue) -> Iterator[str]:
    """Yield ids of the files in an output: itself, in a list, or in a message."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _file_ids(item)
    elif isinstance(value, dict):
        if isinstance(value.get("id"), str) and "media_type" in value:
            yield str(value["id"])
        elif "role" in value:
            yield from _file_ids(value.get("files"))
