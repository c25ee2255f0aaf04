"""Checks before a run, in addition to those of a draft."""

from collections.abc import Iterator

from headgate.graph.check_graph import named
from headgate.graph.check_policies import Reach
from headgate.graph.contracts import (
    FILE_TYPES,
    Contract,
    canonical_contract,
    check_contract,
    compatible,
    contract_outputs,
    part_of,
)
from headgate.graph.interpolate import REFERENCE, Reference
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.mentions import mentions
from headgate.graph.model import Edge, InputSource, InputType, Node, OutputType
from headgate.graph.names import did_you_mean, listed, sentence
from headgate.graph.ports import PortType
from headgate.graph.template import TOOL_OUTPUT, FieldTemplate, OutputTemplate, Template
from headgate.graph.wiring import FLOW_INPUT, MAIN_OUTPUT, Wiring, configured_steps

_TEXT: Contract = {"type": "text"}
"""Contracts implied by output types: a text is not a file."""
_STRUCTURED = frozenset({PortType.DATA, PortType.TABLE, PortType.MESSAGE})
_FILE_INPUTS = frozenset({InputType.IMAGE, InputType.AUDIO, InputType.DOCUMENT, InputType.FILE})


def run_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield everything that prevents a valid draft from running."""
    if not wiring.steps:
        yield Issue(IssueCode.EMPTY, "the flow has no steps.", "Add a component, for example a ChatInput.")
    yield from orphan_issues(wiring)
    yield from _configuration_issues(wiring)
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        if template is not None and not template.annotation:
            yield from _missing_issues(wiring, node, template)
    yield from _reference_issues(wiring)
    for step in wiring.order:
        yield from _bound_contract_issues(wiring, wiring.nodes[step])
        for wire in wiring.data_into(step):
            yield from _handover_issues(wiring, wire.edge)


def orphan_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield unconnected nodes. A flow of one node has none; notes never are."""
    members = [key for key in wiring.nodes if key not in wiring.notes]
    if len(members) < 2:
        return
    for key in members:
        linked = wiring.parents.get(key) or wiring.children.get(key)
        if not wiring.arriving[key] and not wiring.leaving[key] and not linked:
            yield Issue(
                IssueCode.ORPHAN,
                f"{named(wiring.nodes[key])} is not connected to anything.",
                f"Connect '{key}' to another node, or remove it.",
                key,
            )


def is_set(node: Node, field: str) -> bool:
    """Return whether a node's own params set a field."""
    value = node.params.get(field)
    return value is not None and value not in ("", [])


def _configuration_issues(wiring: Wiring) -> Iterator[Issue]:
    for key in wiring.nodes:
        if key not in wiring.configuration:
            continue
        for wire in wiring.data_into(key):
            targets = listed(dict.fromkeys(f"'{out.edge.target}'" for out in wiring.leaving[key]))
            yield Issue(
                IssueCode.CONFIGURATION_INPUT,
                (
                    f"edge {wire.edge.id} connects data to {named(wiring.nodes[key])}, which only configures "
                    f"{targets} and is not a step."
                ),
                f"Set '{wire.edge.input}' as a value, or use a second node for the step.",
                key,
                wire.edge.input,
                wire.edge.id,
            )


def _missing_issues(wiring: Wiring, node: Node, template: Template) -> Iterator[Issue]:
    connected = {wire.edge.input for wire in wiring.arriving[node.id]}
    main = template.main_field
    as_tool = node.id in wiring.configuration and any(
        wire.edge.output == TOOL_OUTPUT for wire in wiring.leaving[node.id]
    )
    for field in template.fields:
        given = (
            not field.required
            or field.name in connected
            or is_set(node, field.name)
            or (field.tool_mode and as_tool)
            or field.name in node.policy.input_bindings
            or (main is not None and field.name == main.name and _brought(node))
            or (
                field.unless
                and (field.unless in {*connected, *node.policy.input_bindings} or is_set(node, field.unless))
            )
        )
        if not given:
            yield _missing(node, field)


def _brought(node: Node) -> bool:
    """Return whether the policy provides the main input from somewhere other than an edge."""
    return node.policy.input_source is not InputSource.PREVIOUS_STEP


def _missing(node: Node, field: FieldTemplate) -> Issue:
    if PortType.MODEL in field.types:
        remedy = f"Set '{field.name}' to a model, written provider/name, or connect a Model output to it."
        if field.default_model:
            remedy += " Or choose a default model for steps in Settings, Models."
    elif set(field.types) == {PortType.TOOL}:
        remedy = f"Connect the 'tool' output of a node to '{field.name}'."
    elif field.types:
        remedy = f"Set '{field.name}' or connect an output of type {listed(field.types)} to it."
    else:
        remedy = f"Set '{field.name}'."
    return Issue(
        IssueCode.MISSING_VALUE, f"{named(node)} requires '{field.name}', which is empty.", remedy, node.id, field.name
    )


def _reference_issues(wiring: Wiring) -> Iterator[Issue]:
    reach = Reach(wiring)
    form = [field.id for field in wiring.flow.form]
    users = {key: configured_steps(wiring, key) if key in wiring.configuration else [key] for key in wiring.nodes}
    for key, node in wiring.nodes.items():
        if key in wiring.notes:
            continue
        for mention in mentions(node, wiring.templates[key]):
            fault = _form_fault(mention.reference, form)
            if fault is None and not mention.field.startswith("input_bindings."):
                faults = (reach.fault(mention.reference, user, own_output=mention.own_output) for user in users[key])
                fault = next((candidate for candidate in faults if candidate is not None), None)
            if fault is not None:
                message = sentence(f"'{mention.field}' of {named(node)}: {fault[0]}")
                yield Issue(IssueCode.UNRESOLVED_REFERENCE, message, fault[1], key, mention.field)


def _form_fault(reference: Reference, form: list[str]) -> tuple[str, str] | None:
    """Return the fault of `{{flow_input.<field>}}` when the form has no such field."""
    if reference.root != FLOW_INPUT or len(reference.path) < 2 or reference.path[1] in [*form, "text"]:
        return None
    name = reference.path[1]
    if not form:
        return (
            f"{reference} refers to a form field '{name}', and the flow has no form",
            f"Add a form with the field '{name}' to the flow, or use {{{{flow_input.text}}}}.",
        )
    return (
        f"{reference} refers to a form field '{name}' that the flow does not have{did_you_mean(name, form)}",
        f"Form fields: {listed(form)}.",
    )


def _handover_issues(wiring: Wiring, edge: Edge) -> Iterator[Issue]:
    """Check contracts and declared input types between a main output and a main input."""
    giver, taker = wiring.nodes[edge.source], wiring.nodes[edge.target]
    given, taken = wiring.templates[edge.source], wiring.templates[edge.target]
    if given is None or taken is None or given.main_output is None or taken.main_field is None:
        return
    brought = taker.policy.input_source is not InputSource.PREVIOUS_STEP
    if edge.input != taken.main_field.name or brought or edge.input in taker.policy.input_bindings:
        return
    input_type = taker.policy.input_type
    output = given.output(edge.output)
    if output is not None and not _fits(giver, output.type, input_type, main=edge.output == given.main_output.name):
        yield Issue(
            IssueCode.INCOMPATIBLE,
            f"{named(taker)} takes input of type {input_type.value}, but {edge.id} delivers {output.type}.",
            f"Change input_type of '{taker.id}', or the output of '{giver.id}'.",
            taker.id,
            "input_type",
            edge.id,
        )
    yield from _contract_gaps(giver, taker, given, edge)


def _contract_gaps(giver: Node, taker: Node, given: Template, edge: Edge) -> Iterator[Issue]:
    """Check contracts along an edge, for any output."""
    output, required = given.output(edge.output), taker.policy.input_contract
    if output is None or required is None:
        return
    contract = _contract_of(giver, given, output)
    if contract is not None:
        who = f"the output contract of '{giver.id}'"
    else:
        if output.type is not PortType.TEXT or canonical_contract(required).get("type") not in FILE_TYPES:
            return
        contract, who = _TEXT, f"the output '{output.name}' of '{giver.id}', which is text,"
    for gap in compatible(contract, required):
        yield Issue(
            IssueCode.INCOMPATIBLE,
            f"{who} does not satisfy the input contract of '{taker.id}': {gap}.",
            "Change one of the two contracts.",
            taker.id,
            "input_contract",
            edge.id,
        )


def _contract_of(giver: Node, given: Template, output: OutputTemplate) -> Contract | None:
    """Return a step's contract for an output; the run checks the same outputs."""
    main = given.main_output.name if given.main_output is not None else None
    covered = contract_outputs(
        giver.policy, main, [(other_output.name, other_output.type) for other_output in given.outputs]
    )
    return giver.policy.output_contract if output.name in covered else None


def _bound_contract_issues(wiring: Wiring, taker: Node) -> Iterator[Issue]:
    """Check contracts where a binding provides the main input: one reference to a step, or to a part of its output."""
    template, required = wiring.templates[taker.id], taker.policy.input_contract
    if template is None or template.main_field is None or required is None or check_contract(required):
        return
    text = taker.policy.input_bindings.get(template.main_field.name, "").strip()
    match = REFERENCE.fullmatch(text)
    given = _promised(wiring, match[1].split(".")) if match is not None else None
    for gap in compatible(given, required):
        yield Issue(
            IssueCode.INCOMPATIBLE,
            (
                f"{text}, as defined by its step's output contract, does not satisfy the input contract of "
                f"'{taker.id}': {gap}."
            ),
            "Change one of the two contracts, or the binding.",
            taker.id,
            f"input_bindings.{template.main_field.name}",
        )


def _promised(wiring: Wiring, path: list[str]) -> Contract | None:
    """Return what the contract of a step guarantees for the value at a path; None when nothing."""
    step = wiring.step_named(path[0], wiring.aliases) or ""
    template = wiring.templates.get(step)
    if template is None or template.main_output is None or len(path) < 2:
        return None
    name = template.main_output.name if path[1] == MAIN_OUTPUT else path[1]
    output = template.output(name)
    contract = _contract_of(wiring.nodes[step], template, output) if output is not None else None
    return None if contract is None or check_contract(contract) else part_of(contract, path[2:])


def _fits(giver: Node, output: PortType, required: InputType, *, main: bool) -> bool:
    if required in _FILE_INPUTS:
        return output is PortType.FILE or output is PortType.MESSAGE
    if required is InputType.JSON:
        return output in _STRUCTURED or (main and giver.policy.output_type is OutputType.JSON)
    return required is not InputType.TEXT or output is not PortType.FILE
