"""What takes the place of the outputs of a step whose flow is inlined."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.graph.crossing import referred
from headgate.graph.interpolate import REFERENCE
from headgate.graph.issues import FlowInvalid, Issue, IssueCode
from headgate.graph.model import Edge, Node
from headgate.graph.ports import PortType, landing_type
from headgate.graph.wiring import MAIN_OUTPUT, Wiring

_DATA_STEP, _TEXT_STEP = "SelectData", "CombineText"
Output = tuple[str, str]


@dataclass(slots=True)
class ResultPaths:
    """The outputs of the inner flow under the names of the step's outputs.

    Args:
        outer: The flow of the step.
        inner: The flow that it runs.
        call: The step.
        ids: Id in the inner flow to id in the result.
        replaced: Outputs of inner input steps to the outputs that take their place.
        free: Returns a free id, and takes it.
    """

    outer: Wiring
    inner: Wiring
    call: Node
    ids: Mapping[str, str]
    replaced: Mapping[Output, Output]
    free: Callable[[str], str]
    nodes: list[Node] = field(default_factory=list)
    """Steps that convert a result."""
    edges: list[Edge] = field(default_factory=list)
    """Edges into those."""
    removed: set[str] = field(default_factory=set)
    """The inner step that only gathered results, when nothing uses it any more."""
    _converted: dict[str, Output] = field(default_factory=dict)

    def leaving(self, edge: Edge) -> Edge:
        """Return the edge that replaces one that leaves the step."""
        source, type_ = self._source(edge.output)
        template = self.outer.templates[edge.target]
        port = template.field(edge.input) if template is not None else None
        types = port.types if port is not None else ()
        if edge.output in {"text", "result"} and not _same(edge.output, type_, types):
            source = self._conversion(edge.output)
        return edge.model_copy(update={"source": source[0], "output": source[1]})

    def paths(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Return what references to the step are replaced by."""
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        for key, reference in referred(self.outer, [key for key in self.outer.nodes if key != self.call.id]):
            if reference.root != self.call.id:
                continue
            output = reference.path[1] if len(reference.path) > 1 else ""
            name = "result" if output == MAIN_OUTPUT else output
            if not name or name == "run_id":
                raise self._unknown(f"{reference} of '{key}'")
            source, type_ = self._source(name)
            plain = name not in {"text", "result"} or type_ is PortType.TEXT
            plain = plain or (name == "result" and type_ is PortType.DATA)
            paths[self.call.id, output] = source if plain else self._conversion(name)
        return paths

    def _source(self, output: str) -> tuple[Output, PortType]:
        """Return the inner output that an output of the step returns, with its type."""
        last = next(step for step in reversed(self.inner.order) if not self.inner.children[step])
        gathered = self._gathered(last)
        if output in gathered:
            self.removed.add(self.ids[last])
            return self._renamed(gathered[output]), self._type(gathered[output])
        template = self.inner.templates[last]
        if output not in {"text", "result"} or template is None or template.main_output is None:
            raise self._unknown(f"the output '{output}' of '{self.call.id}'")
        self.removed.discard(self.ids[last])
        main = (last, template.main_output.name)
        return self._renamed(main), template.main_output.type

    def _gathered(self, last: str) -> dict[str, Output]:
        """Return the values that the last step only gathers in one object, if it does."""
        node, declared = self.inner.nodes[last], self.call.params.get("outputs")
        values = node.params.get("data")
        if node.type != _DATA_STEP or node.params.get("expression") != "@" or not isinstance(values, dict):
            return {}
        gathered: dict[str, Output] = {}
        for name, value in values.items():
            match = REFERENCE.fullmatch(value) if isinstance(value, str) else None
            path = match[1].split(".") if match else []
            if len(path) == 2 and path[0] in self.inner.nodes and isinstance(declared, dict):
                gathered[name] = (path[0], path[1])
        return gathered if isinstance(declared, dict) and set(declared) <= set(gathered) else {}

    def _type(self, output: Output) -> PortType:
        template = self.inner.templates[output[0]]
        port = template.output(output[1]) if template is not None else None
        return port.type if port is not None else PortType.DATA

    def _renamed(self, output: Output) -> Output:
        renamed = (self.ids[output[0]], output[1])
        return self.replaced.get(renamed, renamed)

    def _conversion(self, output: str) -> Output:
        """Return the output of a step that returns the result as data, or as text."""
        if output not in self._converted:
            source, type_ = self._source(output)
            place = self.call.position
            if output == "text":
                node = Node(id=self.free("text"), type=_TEXT_STEP, params={"skip_empty": False}, position=place)
                self.edges.append(Edge(source=source[0], output=source[1], target=node.id, input="parts"))
                self._converted[output] = (node.id, "text")
            elif type_ in {PortType.DATA, PortType.TABLE}:
                node = Node(id=self.free("data"), type=_DATA_STEP, params={"expression": "@"}, position=place)
                self.edges.append(Edge(source=source[0], output=source[1], target=node.id, input="data"))
                self._converted[output] = (node.id, "data")
            else:
                params: dict[str, JsonValue] = {"data": f"{{{{{source[0]}.{source[1]}}}}}", "expression": "@"}
                node = Node(id=self.free("data"), type=_DATA_STEP, params=params, position=place)
                self._converted[output] = (node.id, "data")
            self.nodes.append(node)
        return self._converted[output]

    def _unknown(self, what: str) -> FlowInvalid:
        problem = f"{what} has no counterpart in the steps of the flow."
        return FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, "Use the result or the text.", self.call.id)])


def _same(output: str, type_: PortType, targets: tuple[PortType, ...]) -> bool:
    """Return whether an input receives the same from the inner output as from the step's output."""
    if output == "text":
        return type_ is PortType.TEXT or landing_type(type_, targets) is PortType.TEXT
    return type_ is PortType.DATA or (type_ is PortType.TEXT and landing_type(type_, targets) is not None)
