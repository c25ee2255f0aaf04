"""Outputs that the references of a step name: as edges do, they decide whether a run skips the step. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from pydantic import JsonValue

from headgate.graph.interpolate import Reference, references_in
from headgate.graph.model import InputSource, Node
from headgate.graph.template import Template
from headgate.graph.wiring import MAIN_OUTPUT

Locate = Callable[[str], tuple[str, Template] | None]
"""From the first word of a reference to an earlier step and its template; None when it names none."""


class NamedOutput(NamedTuple):
    """What one reference names."""

    source: str
    output: str | None
    """None: the step as a whole, such as its files."""


def named_outputs(references: Iterable[Reference], locate: Locate) -> Iterator[NamedOutput]:
    """Yield what references name of earlier steps; others are skipped."""
    for reference in references:
        place = locate(reference.root)
        if place is None:
            continue
        source, template = place
        name = reference.path[1] if len(reference.path) > 1 else ""
        port = template.output(name)
        if port is None and name == MAIN_OUTPUT:
            port = template.main_output
        yield NamedOutput(source, port.name if port is not None else None)


def required_outputs(
    node: Node, template: Template, connected: Collection[str], locate: Locate
) -> Iterator[tuple[NamedOutput, ...]]:
    """Yield what the references of each required field name, if they name nothing but outputs of earlier steps.

    Args:
        node: The step.
        template: Its fields.
        connected: Fields that edges fill.
        locate: Finds the named steps.
    """
    policy, main = node.policy, template.main_field
    filled = {*connected}
    if policy.input_source is not InputSource.PREVIOUS_STEP and main is not None:
        filled.add(main.name)
    for field in template.fields:
        if not field.required or field.name in filled:
            continue
        value: JsonValue = policy.input_bindings.get(field.name)
        if value is None and field.interpolate:
            value = node.params.get(field.name)
        references = list(references_in(value))
        outputs = tuple(named_outputs(references, locate))
        if outputs and len(outputs) == len(references):
            yield outputs
