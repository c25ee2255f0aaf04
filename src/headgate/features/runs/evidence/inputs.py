"""Inputs of a step over edges, derived from the outputs of earlier steps, so nothing is stored twice. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST_VALUE = 4096
"""Bytes of JSON. For a longer value the evidence has the hash and source; its content is in the source step."""


@dataclass(frozen=True, slots=True)
class EdgeInput:
    """The input of a step over one edge."""

    field: str
    """The input field of the step."""
    source: str
    """`step.output`."""
    entry: Mapping[str, Any]
    """The stored output: its type, and its value or artifact."""


def inputs_from_edges(definition: Mapping[str, Any], step: Any, steps: Sequence[Any]) -> Iterator[EdgeInput]:  # noqa: ANN401
    """Return the inputs of a step over active edges, in the order of the edges.

    Empty for a step that never started and for one whose policy fetched its main input (recorded in `input`).
    """
    if step.started_at is None or "source" in (step.input_payload or {}):
        return
    bound = (step.input_payload or {}).get("bindings", {})
    outputs = {step.step_id: (step.output_payload or {}).get("outputs", {}) for step in steps}
    for edge in definition.get("edges", ()):
        if edge["target"] != step.step_id or edge["input"] in bound:
            continue
        entry = outputs.get(edge["source"], {}).get(edge["output"])
        if entry is not None:
            yield EdgeInput(edge["input"], f"{edge['source']}.{edge['output']}", entry)
