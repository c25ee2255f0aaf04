"""Checks of step policies (seed 002, flow_steps)."""

from collections.abc import Iterator, Mapping

from headgate.graph.check_graph import named
from headgate.graph.contracts import check_contract, contract_outputs, missing_member
from headgate.graph.interpolate import Reference, references
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import InputSource, Node
from headgate.graph.names import did_you_mean, listed, nearest, sentence
from headgate.graph.ports import CONFIGURATION_TYPES, PortType
from headgate.graph.template import DOCUMENT_OUTPUT, ERROR_OUTPUT, OutputTemplate, Template
from headgate.graph.wiring import FILE_IDS, FLOW_INPUT, MAIN_OUTPUT, Wiring, ancestor_masks

ALMOST_THE_SAME = 80.0
"""Minimum similarity, of 100, at which the first word of `{{...}}` counts as a misspelt step."""
HTTP_SOURCES = frozenset({InputSource.HTTP_GET, InputSource.HTTP_POST})


def contract_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield invalid contracts of a flow's steps."""
    for step in wiring.steps:
        yield from _contract_issues(wiring.nodes[step])


def policy_issues(wiring: Wiring, *, edges_follow: bool = False) -> Iterator[Issue]:
    """Yield all other faults of step policies. With `edges_follow` an error edge may still be missing."""
    reach = Reach(wiring)
    for step in wiring.steps:
        node = wiring.nodes[step]
        template = wiring.templates[step]
        yield from _source_issues(node, template, has_parents=bool(wiring.parents[step]))
        yield from _delivery_issues(node)
        yield from _document_issues(node, template)
        yield from _failure_issues(node, template)
        if not edges_follow and template is not None:
            yield from _error_edge_issues(wiring, node, template)
        if template is not None:
            yield from _binding_issues(node, template, reach)


class Reach:
    """The order of steps; computed on first use."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.aliases: Mapping[str, str] = wiring.aliases
        self._masks: tuple[dict[str, int], dict[str, int]] | None = None

    def fault(self, reference: Reference, node_id: str, *, own_output: bool = False) -> tuple[str, str] | None:
        """Return message and remedy when a reference names a step that is not before `node_id`; None when it is valid.

        Anything that does not look like a step (an alias, `<word>.output`, nearly a step's id) is not a reference and
        passes.
        """
        root = reference.root
        if root == FLOW_INPUT:
            return None
        step = self.wiring.step_named(root, self.aliases)
        if step is None:
            return self._unknown(reference)
        if len(self.wiring.order) < len(self.wiring.steps):
            return None  # a cycle is reported first; until it is removed there is no order
        if step not in self.bits:
            return (
                f"{reference} refers to '{step}', which is not a step and produces nothing",
                "Refer to a step, or remove the reference.",
            )
        if not (own_output and step == node_id) and not self.bits[step] & self.before[node_id]:
            return (
                f"{reference} refers to '{step}', which does not run before '{node_id}'",
                f"Connect '{step}' to '{node_id}', directly or through other steps.",
            )
        return never_given(self.wiring, reference, step)

    @property
    def bits(self) -> dict[str, int]:
        """Bit of each step."""
        return self._computed()[0]

    @property
    def before(self) -> dict[str, int]:
        """Bits of the steps before each step."""
        return self._computed()[1]

    def _computed(self) -> tuple[dict[str, int], dict[str, int]]:
        if self._masks is None:
            self._masks = ancestor_masks(self.wiring)
        return self._masks

    def _unknown(self, reference: Reference) -> tuple[str, str] | None:
        root = reference.root
        names = [*self.wiring.steps, FLOW_INPUT]
        meant = (
            (root.startswith("step_") and root[5:].isdigit())
            or reference.path[1:2] == (MAIN_OUTPUT,)
            or nearest(root, names, at_least=ALMOST_THE_SAME)
        )
        if not meant:
            return None
        return (
            f"{reference} refers to '{root}', and there is no such step{did_you_mean(root, names)}",
            f"Steps: {listed(self.wiring.steps)}.",
        )


def never_given(wiring: Wiring, reference: Reference, step: str) -> tuple[str, str] | None:
    """Return message and remedy when a step never outputs what a reference names; None when it may."""
    template = wiring.templates[step]
    if template is None or len(reference.path) < 2:
        return None
    name = reference.path[1]
    main = template.main_output.name if template.main_output is not None else ""
    outputs = [output.name for output in template.outputs if output.type not in CONFIGURATION_TYPES]
    if name not in {*outputs, MAIN_OUTPUT, FILE_IDS}:
        hint = did_you_mean(name, [*outputs, MAIN_OUTPUT])
        message = f"{reference} refers to an output '{name}' that '{step}' ({template.type}) does not have{hint}"
        return message, f"Its outputs: {listed(outputs)}."
    policy = wiring.nodes[step].policy
    covered = contract_outputs(policy, main, [(output.name, output.type) for output in template.outputs])
    contract = policy.output_contract
    if (main if name == MAIN_OUTPUT else name) not in covered or contract is None or check_contract(contract):
        return None
    missing = missing_member(contract, reference.path[2:])
    if missing is None:
        return None
    return (
        f"{reference} refers to '{missing}', which the output contract of '{step}' does not allow",
        f"Change the output contract of '{step}', or the reference.",
    )


def _source_issues(node: Node, template: Template | None, *, has_parents: bool) -> Iterator[Issue]:
    source = node.policy.input_source
    if source is InputSource.ALL_PREVIOUS_STEPS and not has_parents:
        yield _policy_issue(
            node,
            "input_source",
            "is a first step, so it cannot read previous steps",
            "Use input_source flow_input, http_get or http_post, or connect a step before it.",
        )
    if source in HTTP_SOURCES and node.policy.input_config is None:
        yield _policy_issue(
            node,
            "input_config",
            f"reads from a URL (input_source {source.value}), but input_config has none",
            "Set url in input_config.",
        )
    if (
        source is not InputSource.PREVIOUS_STEP
        and template is not None
        and not (source is InputSource.FLOW_INPUT and template.reads_input)
        and template.main_field is None
        and not template.annotation
    ):
        yield _policy_issue(
            node,
            "input_source",
            f"reads from outside (input_source {source.value}), but has no input to fill",
            "Set input_source back to previous_step.",
        )


def _delivery_issues(node: Node) -> Iterator[Issue]:
    if node.policy.output_mode == "http_post" and node.policy.output_config is None:
        yield _policy_issue(
            node,
            "output_config",
            "sends its output to a URL (output_mode http_post), but output_config has none",
            "Set url in output_config.",
        )


def _document_issues(node: Node, template: Template | None) -> Iterator[Issue]:
    """Yield faults of document outputs: the main output must be text, message, data or table, and the name unique."""
    if template is None or not node.policy.makes_document:
        return
    what = node.policy.output_type
    main = template.main_output
    if main is None or main.type is PortType.FILE:
        yield _policy_issue(
            node,
            "output_type",
            f"creates a {what} (output_type), but has no text output to convert",
            "Set output_type to text.",
        )
    elif [output.type for output in template.outputs if output.name == DOCUMENT_OUTPUT] != [PortType.FILE]:
        yield _policy_issue(
            node,
            "output_type",
            f"already has an output '{DOCUMENT_OUTPUT}', which output_type {what} would add",
            "Add a MakeDocument node after it.",
        )


def _is_error_edge(output: OutputTemplate | None) -> bool:
    return output is not None and output.branch and output.type is PortType.DATA


def _error_edge_issues(wiring: Wiring, node: Node, template: Template) -> Iterator[Issue]:
    """Yield an error edge that leads nowhere."""
    if not node.policy.has_error_output or not _is_error_edge(template.output(ERROR_OUTPUT)):
        return
    if not any(wire.edge.output == ERROR_OUTPUT for wire in wiring.leaving[node.id]):
        yield _policy_issue(
            node,
            "on_error",
            f"takes the error edge when it fails, but nothing is connected to its output '{ERROR_OUTPUT}'",
            f"Connect '{node.id}.{ERROR_OUTPUT}' to a step, or set on_error to fail.",
        )


def _failure_issues(node: Node, template: Template | None) -> Iterator[Issue]:
    """Yield faults of what follows a failure, and of how a disabled step is passed through."""
    policy = node.policy
    if template is None:
        return
    if policy.has_error_output and not _is_error_edge(template.output(ERROR_OUTPUT)):
        yield _policy_issue(
            node,
            "on_error",
            f"already has an output '{ERROR_OUTPUT}', which on_error error_edge would add",
            "Set on_error to error_data.",
        )
    if policy.on_error in {"default_value", "error_data"} and (main := template.main_output) is not None:
        if main.type is PortType.FILE or (main.type is PortType.TABLE and policy.on_error == "error_data"):
            yield _policy_issue(
                node,
                "on_error",
                f"outputs a {main.type}, which {policy.on_error} cannot replace",
                "Set on_error to error_edge or fail.",
            )
        elif policy.on_error == "default_value" and policy.default_value is None:
            yield _policy_issue(
                node, "default_value", "continues with a default value, but has none", "Set default_value."
            )
    if policy.disabled == "pass_through" and (template.main_field is None or template.main_output is None):
        yield _policy_issue(node, "disabled", "has no main input that could be passed through", "Set disabled to skip.")


def _contract_issues(node: Node) -> Iterator[Issue]:
    for member in ("input_contract", "output_contract"):
        contract = node.policy.input_contract if member == "input_contract" else node.policy.output_contract
        for fault in check_contract(contract) if contract is not None else ():
            yield Issue(
                IssueCode.CONTRACT,
                f"{member} of {named(node)}: {fault}.",
                'Write it as {"type": "json", "schema": {...}} or as an envelope such as {"type": "text"}.',
                node.id,
                member,
            )


def _binding_issues(node: Node, template: Template, reach: Reach) -> Iterator[Issue]:
    names = [field.name for field in template.fields]
    for name, text in node.policy.input_bindings.items():
        member = f"input_bindings.{name}"
        if name not in names:
            yield Issue(
                IssueCode.BINDING,
                f"{named(node)} binds '{name}', but has no such field{did_you_mean(name, names) or '.'} "
                f"Fields: {listed(names)}.",
                "Bind one of its fields.",
                node.id,
                member,
            )
        for reference in references(text):
            fault = reach.fault(reference, node.id)
            if fault is not None:
                yield Issue(
                    IssueCode.BINDING,
                    sentence(f"binding '{name}' of {named(node)}: {fault[0]}"),
                    fault[1],
                    node.id,
                    member,
                )


def _policy_issue(node: Node, member: str, what: str, remedy: str) -> Issue:
    return Issue(IssueCode.POLICY, f"{named(node)} {what}.", remedy, node.id, member)
