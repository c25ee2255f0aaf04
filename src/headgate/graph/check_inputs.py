"""Checks of the run inputs that a flow reads, and of values that have no effect."""

from collections.abc import Iterator

from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.json_values import parse_json
from headgate.graph.model import Edge, FormField, Node
from headgate.graph.names import did_you_mean, listed
from headgate.graph.value_names import FORM_TYPES
from headgate.graph.wiring import Wiring

FORM_INPUT, FILE_INPUT = "FormInput", "FileInput"
FORM_READERS = {FORM_INPUT: "only", FILE_INPUT: "field"}
"""Components that name form fields in a param, and that param."""
FILE_FIELDS = frozenset({"image", "audio", "document", "file"})


def form_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield steps that read form fields which the flow does not have."""
    form = {field.id: field for field in wiring.flow.form}
    for key in wiring.steps:
        node = wiring.nodes[key]
        if node.type == FORM_INPUT and not form:
            yield Issue(
                IssueCode.MISSING_FORM,
                f"{named(node)} returns the answers of the flow's form, and the flow has no form.",
                "Add a form with at least one field to the flow, or use a TextInput.",
                key,
            )
        elif node.type in FORM_READERS:
            for name in fields_read(node):
                yield from _field_issues(node, name, form)


def fields_read(node: Node) -> list[str]:
    """Return ids of the form fields that a form reader names."""
    value = node.params.get(FORM_READERS[node.type])
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value)
        except ValueError:
            return []  # reported as a wrong value
    if isinstance(value, str):
        value = [item.strip() for item in value.replace("\n", ",").split(",")] if node.type == FORM_INPUT else [value]
    typed = node.params.get(FORM_TYPES) if node.type == FORM_INPUT else None
    names = [*(value if isinstance(value, list) else []), *(typed if isinstance(typed, dict) else [])]
    return [item for item in names if isinstance(item, str) and item and "{{" not in item]


def _field_issues(node: Node, name: str, form: dict[str, FormField]) -> Iterator[Issue]:
    field = form.get(name)
    fields = [field.id for field in form.values() if node.type == FORM_INPUT or field.type in FILE_FIELDS]
    if field is None:
        description = (
            f"reads the form field '{name}', and {'the flow has no form' if not form else 'the form has no such field'}"
        )
        hint = did_you_mean(name, fields)
    elif node.type == FILE_INPUT and field.type not in FILE_FIELDS:
        description, hint = f"reads a file from the form field '{name}', whose type is {field.type}", ""
    else:
        return
    remedy = f"Fields of that type: {listed(fields)}." if fields else "Add the field to the form."
    yield Issue(
        IssueCode.MISSING_FORM, f"{named(node)} {description}{hint or '.'}", remedy, node.id, FORM_READERS[node.type]
    )


def hidden_values(wiring: Wiring) -> Iterator[Issue]:
    """Yield warnings for field values that an edge replaces."""
    for key in wiring.steps:
        template, inbound = wiring.templates[key], wiring.data_into(key)
        if template is None:
            continue
        for wire in inbound:
            field, value = template.field(wire.edge.input), wiring.nodes[key].params.get(wire.edge.input)
            if field is None or field.many or value in (None, "", [], {}) or value == field.default:
                continue
            source = wiring.templates[wire.edge.source]
            output = source.output(wire.edge.output) if source is not None else None
            on_branch = output is not None and output.branch
            if on_branch and any(wire.edge.input != field.name for wire in inbound):
                continue  # when the branch is not taken, the step can run by its other edges, and the value is used
            yield _hidden(wiring.nodes[key], field.name, wire.edge, on_branch=on_branch)


def _hidden(node: Node, field: str, edge: Edge, *, on_branch: bool) -> Issue:
    instead = (
        "for a fixed value on this branch, connect it to a SelectData whose expression is a JMESPath literal "
        'such as `"all is well"`.'
        if on_branch
        else f"remove the edge and refer to {{{{{edge.source}.{edge.output}}}}} inside the value."
    )
    return Issue(
        IssueCode.HIDDEN_VALUE,
        f"the value set in '{field}' of {named(node)} is never used: the edge {edge.id} replaces it.",
        f"Clear '{field}', or {instead}",
        node.id,
        field,
        edge.id,
        severity="warning",
    )
