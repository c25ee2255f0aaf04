"""Inline a flow: the step that runs it is replaced by the flow's own steps.

The opposite of `extract`: what the step passes on takes the place of the flow's input, and its outputs that of the
step's. A run has the same result before and after, or the request is rejected with the reason.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from headgate.graph.check_inputs import FORM_INPUT
from headgate.graph.crossing import TEXT_INPUT, named_by_id, referred
from headgate.graph.inlined_input import InputSteps
from headgate.graph.inlined_result import ResultPaths
from headgate.graph.issues import FlowInvalid, Issue, IssueCode, raise_if_any
from headgate.graph.links import unlink
from headgate.graph.mentions import rename_paths
from headgate.graph.model import Edge, Flow, FlowSettings, InputSource, Node, Position, StepPolicy
from headgate.graph.names import free_name
from headgate.graph.ports import PortType
from headgate.graph.template import Catalog
from headgate.graph.value_names import FLOW_STEP, FORM_TYPES, STATE_STEPS
from headgate.graph.wiring import FLOW_INPUT, RESERVED_IDS, Wiring, wire


@dataclass(frozen=True, slots=True)
class Inlined:
    """A flow with the steps of another one."""

    flow: Flow
    node_ids: tuple[str, ...]
    """The added nodes."""


def inline(flow: Flow, node_id: str, called: Flow, catalog: Catalog) -> Inlined:
    """Return the flow with the steps of the flow that a step runs. Raises `FlowInvalid` with the reason.

    Args:
        flow: The flow.
        node_id: A step that runs a flow.
        called: The definition of that flow.
        catalog: Provides templates, also of the custom components of both flows.
    """
    outer = wire(named_by_id(flow, catalog), catalog)
    inner = wire(named_by_id(unlink(called), catalog), catalog)
    call = _call(outer, node_id)
    raise_if_any(_faults(outer, inner, call))
    merged = _Merge(outer, inner, call, catalog)
    return merged.result()


def _call(outer: Wiring, node_id: str) -> Node:
    node = outer.nodes.get(node_id)
    if node is None or node.type != FLOW_STEP:
        problem = f"'{node_id}' is not a step that runs a flow."
        raise FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, f"Choose a {FLOW_STEP} step.", node_id)])
    return node


def _faults(outer: Wiring, inner: Wiring, call: Node) -> Iterable[Issue]:
    """Yield why the step cannot be replaced by the steps of its flow."""
    if call.policy != StepPolicy():
        yield _fault(call.id, f"step '{call.id}' has a policy, which would apply to none of its steps.", "Remove it.")
    if any(leaving.configures for leaving in outer.leaving[call.id]):
        yield _fault(call.id, f"step '{call.id}' is a tool of an agent.", "Connect it as a step.")
    if not inner.steps:
        yield _fault(call.id, "the flow has no steps.", "Choose another step.")
    last = [step for step in inner.order if not inner.children[step]]
    if len(last) > 1:
        yield _fault(call.id, f"the flow ends in {len(last)} steps, and a step has one main result.", "Join them.")
    for key, node in inner.nodes.items():
        if node.type in STATE_STEPS:
            yield _fault(
                call.id,
                f"its step '{key}' uses the state of that flow, which this flow does not have.",
                "Keep the step that runs the flow.",
            )
    for step in inner.order:
        if inner.nodes[step].policy.input_source is InputSource.ALL_PREVIOUS_STEPS:
            yield _fault(
                call.id,
                f"its step '{step}' reads all previous steps, which would be others.",
                "Set its input source to previous_step, and publish the flow again.",
            )
    if any(
        node.policy.input_source is InputSource.ALL_PREVIOUS_STEPS and key != call.id
        for key, node in outer.nodes.items()
    ):
        yield _fault(call.id, "a step of this flow reads all previous steps, which would be others.", "Change it.")


@dataclass(slots=True)
class _Merge:
    """The state of one inlining."""

    outer: Wiring
    inner: Wiring
    call: Node
    catalog: Catalog
    ids: dict[str, str] = field(default_factory=dict)
    """Id in the inner flow to id in the result."""

    def result(self) -> Inlined:
        """Return the merged flow."""
        self._name_nodes()
        inputs = InputSteps(self.outer, self.inner.flow, self.call, self._free)
        inner_edges = [self._renamed_edge(edge) for edge in self.inner.flow.edges]
        replaced: dict[tuple[str, str], tuple[str, str]] = {}
        inner_nodes: list[Node] = []
        for node in self.inner.flow.nodes:
            if self._reads_run(node):
                replaced |= self._entry(node, inputs)
            elif not (self._is_known(node)):
                inner_nodes.append(node)
        edges = [_rewired(edge, replaced) for edge in inner_edges]
        paths: dict[tuple[str, ...], tuple[str, ...]] = {
            (FLOW_INPUT, name): source for name, source in self._read_inputs(inputs).items()
        }
        paths.update({tuple(source): tuple(other) for source, other in replaced.items()})
        nodes = [self._inner_node(node, paths, inputs, edges) for node in inner_nodes]
        middle = _moved(nodes, self.call.position)
        return self._merged(middle, edges, inputs, replaced)

    def _name_nodes(self) -> None:
        taken = {*self.outer.nodes, *RESERVED_IDS} - {self.call.id}
        for node in self.inner.flow.nodes:
            self.ids[node.id] = node.id if self._is_known(node) else free_name(node.id, taken)
            taken.add(self.ids[node.id])

    def _free(self, name: str) -> str:
        """Return an id that no node has, and take it."""
        node_id = free_name(name, {*self.outer.nodes, *self.ids.values(), *RESERVED_IDS})
        self.ids[f"{node_id} of the input"] = node_id
        return node_id

    def _is_known(self, node: Node) -> bool:
        """Return whether this flow has the same model or tool already."""
        other = self.outer.nodes.get(node.id)
        if other is None or node.id not in self.inner.configuration or node.id not in self.outer.configuration:
            return False
        return other.model_copy(update={"position": node.position}) == node

    def _reads_run(self, node: Node) -> bool:
        template = self.inner.templates[node.id]
        reads = template is not None and template.reads_input
        return reads and not self.inner.data_into(node.id) and node.params.get("text") in (None, "")

    def _entry(self, node: Node, inputs: InputSteps) -> dict[tuple[str, str], tuple[str, str]]:
        """Return what takes the place of the outputs of a step that returns the run's input."""
        used = {leaving.edge.output for leaving in self.inner.leaving[node.id]}
        used |= {
            reference.path[1]
            for _, reference in referred(self.inner, list(self.inner.nodes))
            if reference.root == node.id and len(reference.path) > 1
        }
        typed = node.params.get(FORM_TYPES)
        sources = {}
        for output in sorted(used):
            if node.type == FORM_INPUT and isinstance(typed, dict) and output in typed:
                sources[self.ids[node.id], output] = inputs.value(output)
            elif node.type in {"ChatInput", "TextInput"} and output in {"text", "message", "output"}:
                sources[self.ids[node.id], output] = inputs.value(TEXT_INPUT)
            else:
                problem = f"its step '{node.id}' reads the input of its run, which this flow does not have."
                remedy = "Let it read fields of the form by {{flow_input.field}}, and publish the flow again."
                raise FlowInvalid([_fault(self.call.id, problem, remedy)])
        return sources

    def _read_inputs(self, inputs: InputSteps) -> dict[str, tuple[str, ...]]:
        """Return the values of the fields that references in the inner flow read."""
        values: dict[str, tuple[str, ...]] = {}
        for _, reference in referred(self.inner, list(self.inner.nodes)):
            if reference.root == FLOW_INPUT:
                if len(reference.path) == 1:
                    problem = "a step of the flow reads its complete input, which this flow does not have."
                    raise FlowInvalid([_fault(self.call.id, problem, "Let it read single fields.")])
                values[reference.path[1]] = inputs.path(reference.path[1])
        return values

    def _renamed_edge(self, edge: Edge) -> Edge:
        return edge.model_copy(update={"source": self.ids[edge.source], "target": self.ids[edge.target]})

    def _inner_node(
        self,
        node: Node,
        paths: Mapping[tuple[str, ...], tuple[str, ...]],
        inputs: InputSteps,
        edges: list[Edge],
    ) -> Node:
        """Return a node of the inner flow with its new id and references; its policy keeps its effect."""
        template = self.inner.templates[node.id]
        roots: dict[tuple[str, ...], tuple[str, ...]] = {
            (old,): (new,) for old, new in self.ids.items() if old != new and old in self.inner.nodes
        }
        renamed = rename_paths(node, roots, template)
        renamed = rename_paths(renamed, dict(paths), template).model_copy(update={"id": self.ids[node.id]})
        policy = _with_defaults(renamed.policy, self.inner.flow.settings, self.outer.flow.settings)
        if policy.input_source is InputSource.FLOW_INPUT:
            main = template.main_field if template is not None else None
            if main is None or PortType.TEXT not in main.types:
                problem = f"its step '{node.id}' reads the complete input of its run by its policy."
                raise FlowInvalid([_fault(self.call.id, problem, "Let it read the previous step.")])
            source, output = inputs.value(TEXT_INPUT)
            edges.append(Edge(source=source, output=output, target=self.ids[node.id], input=main.name))
            policy = policy.model_copy(update={"input_source": InputSource.PREVIOUS_STEP})
        return renamed.model_copy(update={"policy": policy})

    def _merged(
        self,
        middle: list[Node],
        inner_edges: list[Edge],
        inputs: InputSteps,
        replaced: Mapping[tuple[str, str], tuple[str, str]],
    ) -> Inlined:
        """Return the outer flow with the inner nodes where the step was."""
        results = ResultPaths(self.outer, self.inner, self.call, self.ids, replaced, self._free)
        edges: list[Edge] = []
        entered = False
        for edge in self.outer.flow.edges:
            if self.call.id in {edge.source, edge.target} and not entered:
                entered = True
                edges += inner_edges
            if edge.source == self.call.id:
                edges.append(results.leaving(edge))
            elif edge.target != self.call.id:
                edges.append(edge)
        if not entered:
            edges += inner_edges
        paths = results.paths()
        edges += results.edges
        removed = results.removed
        added = [node for node in (*inputs.nodes, *middle, *results.nodes) if node.id not in removed]
        nodes: list[Node] = []
        for node in self.outer.flow.nodes:
            if node.id == self.call.id:
                nodes += added
            else:
                nodes.append(rename_paths(node, paths, self.outer.templates[node.id]))
        ids = {node.id for node in nodes}
        complete = tuple(dict.fromkeys(edge for edge in edges if {edge.source, edge.target} <= ids))
        flow = self.outer.flow.model_copy(update={"nodes": tuple(nodes), "edges": complete})
        return Inlined(flow, tuple(node.id for node in added))


def _rewired(edge: Edge, replaced: Mapping[tuple[str, str], tuple[str, str]]) -> Edge:
    source = replaced.get((edge.source, edge.output))
    return edge if source is None else edge.model_copy(update={"source": source[0], "output": source[1]})


def _with_defaults(policy: StepPolicy, inner: FlowSettings, outer: FlowSettings) -> StepPolicy:
    """Return the policy with the defaults of its flow, where they differ from those of the other one."""
    given: dict[str, object] = {}
    if policy.retry is None and inner.retry is not None and inner.retry != outer.retry:
        given["retry"] = inner.retry
    limit = inner.step_timeout_seconds
    if policy.timeout_seconds is None and limit is not None and limit != outer.step_timeout_seconds:
        given["timeout_seconds"] = limit
    return policy.model_copy(update=given) if given else policy


def _moved(nodes: Collection[Node], place: Position) -> list[Node]:
    """Return nodes with their middle at a place."""
    if not nodes:
        return []
    x = place.x - round(sum(node.position.x for node in nodes) / len(nodes))
    y = place.y - round(sum(node.position.y for node in nodes) / len(nodes))
    return [
        node.model_copy(update={"position": Position(x=node.position.x + x, y=node.position.y + y)}) for node in nodes
    ]


def _fault(node: str, message: str, remedy: str) -> Issue:
    return Issue(IssueCode.CANNOT_MOVE, message, remedy, node)
