"""What edges brought to a step, derived from the outputs of the steps before it: free while a run works. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST_VALUE = 4096
"""Bytes of JSON; of a longer value the evidence has the hash and the reference, its content is with the other step."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What one edge brought."""

    field: str
    """The input that the edge leads to."""
    source: str
    """`step.output`."""
    entry: Mapping[str, Any]
    """The stored output: its type, and its value or the artifact it is in."""


def brought_by_edges(definition: Mapping[str, Any], step: Any, steps: Sequence[Any]) -> Iterator[Brought]:  # noqa: ANN401
    """What the live edges into a step brought, in the order of the edges.

    Nothing for a step that never began, nor for one whose main input its policy fetched: `input` says what that was.
    """
    if step.started_at is None or "source" in (step.input_payload or {}):
        return
    bound = (step.input_payload or {}).get("bindings", {})
    outputs = {one.step_id: (one.output_payload or {}).get("outputs", {}) for one in steps}
    for edge in definition.get("edges", ()):
        if edge["target"] != step.step_id or edge["input"] in bound:
            continue
        entry = outputs.get(edge["source"], {}).get(edge["output"])
        if entry is not None:
            yield Brought(edge["input"], f"{edge['source']}.{edge['output']}", entry)
