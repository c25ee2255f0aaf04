"""Where the input of an inlined flow comes from: outputs, values, and steps that output literal values."""

from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.graph.crossing import TEXT_INPUT, edge_source
from headgate.graph.interpolate import REFERENCE
from headgate.graph.issues import FlowInvalid, Issue, IssueCode
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.wiring import Wiring

_TEXT_STEP, _DATA_STEP = "CombineText", "SelectData"


@dataclass(slots=True)
class InputSteps:
    """The values that a step passes to its flow. Steps are added for those that are no output.

    Args:
        outer: The flow of the step.
        called: The flow that it runs.
        call: The step.
        free: Returns a free id, and takes it.
    """

    outer: Wiring
    called: Flow
    call: Node
    free: Callable[[str], str]
    nodes: list[Node] = field(default_factory=list)
    """Added steps."""
    _made: dict[str, tuple[str, str]] = field(default_factory=dict)

    def path(self, name: str) -> tuple[str, ...]:
        """Return the path of a reference to a field of the form, or to the text."""
        given = self._given(name)
        match = REFERENCE.fullmatch(given) if isinstance(given, str) else None
        if match is not None and self._edge(name) is None:
            return tuple(match[1].split("."))
        return self.value(name)

    def value(self, name: str) -> tuple[str, str]:
        """Return the step and the output of a field of the form, or of the text."""
        edge = self._edge(name)
        if edge is not None:
            source, _ = edge_source(self.outer, edge)
            return source[0], source[1]
        if name not in self._made:
            self._made[name] = self._step(name, self._given(name))
        return self._made[name]

    def _edge(self, name: str) -> Edge | None:
        into = [wire.edge for wire in self.outer.data_into(self.call.id)]
        if any(edge.input in {"files", "answers"} for edge in into):
            problem = f"step '{self.call.id}' passes on files or answers that come from an edge."
            raise FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, "Pass single fields on.", self.call.id)])
        return next((edge for edge in into if edge.input == name), None)

    def _given(self, name: str) -> JsonValue:
        """Return the value that the step sets: the answer, a value of the step's input, or the text."""
        bound = self.call.policy.input_bindings.get(name)
        own = self.call.params.get(name)
        answers = self.call.params.get("answers")
        if name == TEXT_INPUT and not any(question.id == TEXT_INPUT for question in self.called.form):
            return bound or own or ""
        answer = answers.get(name) if isinstance(answers, dict) else None
        return answer if own is None else own

    def _step(self, name: str, value: JsonValue) -> tuple[str, str]:
        """Return the output of a new step that returns a value."""
        place = self.call.position
        if isinstance(value, str) and REFERENCE.search(value) and not REFERENCE.fullmatch(value):
            texts: dict[str, JsonValue] = {"parts": [value], "skip_empty": False}
            return self._added(Node(id=self.free(name), type=_TEXT_STEP, params=texts, position=place), "text")
        params: dict[str, JsonValue] = {"data": value, "expression": "@"}
        return self._added(Node(id=self.free(name), type=_DATA_STEP, params=params, position=place), "data")

    def _added(self, node: Node, output: str) -> tuple[str, str]:
        self.nodes.append(node)
        return node.id, output
