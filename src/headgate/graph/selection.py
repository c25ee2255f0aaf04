"""A selection of nodes that becomes a flow: what moves, what is copied, what stays, and why it cannot be. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from headgate.graph.crossing import Source, between, is_branch, referred, uncertain
from headgate.graph.issues import FlowInvalid, Issue, IssueCode, raise_if_any
from headgate.graph.model import InputSource, InputType
from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType
from headgate.graph.value_names import STATE_STEPS
from headgate.graph.wiring import FILE_IDS, Wiring, ancestor_masks, by_attachment, configured_steps

_FILE_INPUTS = frozenset({InputType.IMAGE, InputType.AUDIO, InputType.DOCUMENT, InputType.FILE})


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of a flow that become another flow, in the flow's node order."""

    steps: tuple[str, ...]
    moved: frozenset[str]
    """Steps, their models and tools that nothing else uses, and notes."""
    copied: frozenset[str]
    """Models and tools that steps on both sides use."""
    left: tuple[str, ...]
    """Selected nodes that stay: they read the input of the run, or show its result."""

    @property
    def inside(self) -> frozenset[str]:
        """Return the nodes of the new flow."""
        return self.moved | self.copied


def select(wiring: Wiring, node_ids: Collection[str]) -> Selection:
    """Return what a selection moves. Raises `FlowInvalid` when a run would not have the same result afterwards."""
    unknown = [node_id for node_id in node_ids if node_id not in wiring.nodes]
    if unknown:
        hint = did_you_mean(unknown[0], wiring.nodes) or "."
        raise FlowInvalid([Issue(IssueCode.UNKNOWN_NODE, f"there is no node '{unknown[0]}'{hint}", "", unknown[0])])
    chosen = [step for step in wiring.steps if step in set(node_ids)]
    steps = tuple(step for step in chosen if not _stays(wiring, step))
    if not steps:
        raise FlowInvalid(
            [
                Issue(
                    IssueCode.CANNOT_MOVE,
                    "the selection has no step that can become a flow.",
                    "Select steps between those that read the input of the run and those that show its result.",
                )
            ]
        )
    configuration = _configuration(wiring, set(steps))
    shared = {key for key in configuration if _used_elsewhere(wiring, key, {*steps, *configuration})}
    notes = {key for key in node_ids if key in wiring.notes}
    selection = Selection(
        steps,
        frozenset({*steps, *(configuration - shared), *notes}),
        frozenset(shared),
        tuple(key for key in wiring.nodes if key in set(node_ids) and key not in {*steps, *configuration, *notes}),
    )
    raise_if_any(_faults(wiring, selection))
    return selection


def _stays(wiring: Wiring, step: str) -> bool:
    """Return whether a step outputs the run's input, or shows its result as a message, table or file."""
    template = wiring.templates[step]
    if template is None:
        return False
    if template.reads_input and not wiring.data_into(step) and wiring.nodes[step].params.get("text") in (None, ""):
        return True
    main = template.main_output
    return not wiring.children[step] and main is not None and main.type not in {PortType.TEXT, PortType.DATA}


def _configuration(wiring: Wiring, inside: set[str]) -> set[str]:
    """Return models and tools of steps, nested ones included."""
    configuration: set[str] = set()
    for key in reversed(by_attachment(wiring)):
        targets = {leaving.edge.target for leaving in wiring.leaving[key] if leaving.configures}
        if key in wiring.configuration and targets & (inside | configuration):
            configuration.add(key)
    return configuration


def _used_elsewhere(wiring: Wiring, key: str, inside: Collection[str]) -> bool:
    """Return whether a configuration node configures a step that stays, through others or directly."""
    return any(step not in inside for step in configured_steps(wiring, key))


def _faults(wiring: Wiring, selection: Selection) -> Iterator[Issue]:
    steps = set(selection.steps)
    for step in between(wiring, steps):
        yield _fault(
            step,
            f"step '{step}' is between selected steps.",
            f"Select '{step}' as well, or fewer steps.",
        )
    for step in selection.steps:
        yield from _step_faults(wiring, step, steps)
    for key in wiring.nodes:
        if key in selection.inside and wiring.nodes[key].type in STATE_STEPS:
            yield _fault(
                key,
                f"step '{key}' uses the state of this flow, which another flow does not have.",
                "Leave it out of the selection.",
            )
    bits, masks = ancestor_masks(wiring)
    selected_bits = sum(bits.get(step, 0) for step in steps)
    for step in wiring.order:
        policy = wiring.nodes[step].policy
        if policy.input_source is InputSource.ALL_PREVIOUS_STEPS and (step in steps or masks[step] & selected_bits):
            yield _fault(
                step,
                f"step '{step}' reads all previous steps, which would be others afterwards.",
                "Set its input source to previous_step, or select other steps.",
            )
    for key, reference in referred(wiring, [key for key in wiring.nodes if key not in selection.inside]):
        if reference.root in steps and (len(reference.path) == 1 or reference.path[1] == FILE_IDS):
            yield _fault(
                key,
                f"{reference} of '{key}' names a complete selected step.",
                "Name one output, for example {{step.output}}.",
            )
    yield from _result_faults(wiring, selection)


def _step_faults(wiring: Wiring, step: str, steps: set[str]) -> Iterator[Issue]:
    """Yield why one step cannot move: its policy reads the run's form or files, or it is a tool of a step outside."""
    policy, template = wiring.nodes[step].policy, wiring.templates[step]
    if policy.input_source is InputSource.FLOW_INPUT:
        main = template.main_field if template is not None else None
        if main is None or PortType.TEXT not in main.types or policy.input_type in _FILE_INPUTS:
            yield _fault(
                step,
                f"step '{step}' reads the complete input of the run by its policy.",
                "Leave it out of the selection.",
            )
    for leaving in wiring.leaving[step]:
        if leaving.configures and leaving.edge.target not in steps:
            yield _fault(
                step,
                f"step '{step}' is also a tool of '{leaving.edge.target}'.",
                f"Select '{leaving.edge.target}' as well, or leave '{step}' out.",
            )
    for arriving in wiring.arriving[step]:
        if arriving.configures and arriving.edge.source in set(wiring.steps) - steps:
            yield _fault(
                step,
                f"'{arriving.edge.source}' is a tool of '{step}' and a step of its flow.",
                f"Select '{arriving.edge.source}' as well, or leave '{step}' out.",
            )


def _result_faults(wiring: Wiring, selection: Selection) -> Iterator[Issue]:
    """Yield last steps of the flow inside the selection, when the new step could not return their result."""
    steps = set(selection.steps)
    last = [step for step in selection.steps if not wiring.children[step]]
    leaving = any(child not in steps for step in steps for child in wiring.children[step])
    if len(last) > 1 or (last and leaving):
        yield _fault(
            last[0],
            f"the results of {listed(last)} are results of this flow, and a step has one main result.",
            "Leave the last steps out of the selection" + ("." if leaving else ", all but one."),
        )


def skip_faults(wiring: Wiring, selection: Selection, sources: Collection[Source]) -> Iterator[Issue]:
    """Yield why the steps would not be skipped together: a branch before the selection that only some depend on.

    Args:
        wiring: The flow.
        selection: What moves.
        sources: Outputs outside that edges carry into the selection.
    """
    skipped = uncertain(wiring)
    steps = set(selection.steps)
    risky = [source for source in sources if source[0] in skipped or is_branch(wiring.templates[source[0]], source[1])]
    if not risky:
        return
    starts = [step for step in selection.steps if not steps & set(wiring.parents[step])]
    dependent = all(
        any((inbound.edge.source, inbound.edge.output) in risky for inbound in wiring.data_into(step))
        for step in starts
    )
    if len(sources) > 1 or not dependent:
        yield _fault(
            risky[0][0],
            f"a run may skip the output {'.'.join(risky[0])}, and not all selected steps depend on it alone.",
            "Select the steps of one branch only, or the branching step as well.",
        )


def _fault(node: str, message: str, remedy: str) -> Issue:
    return Issue(IssueCode.CANNOT_MOVE, message, remedy, node)
