"""Repeat an extracted flow: the step that runs it once becomes one that runs it for each item, or until a condition."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from pydantic import JsonValue

from headgate.graph.crossing import referred
from headgate.graph.extract import Extraction
from headgate.graph.issues import FlowInvalid, Issue, IssueCode
from headgate.graph.mentions import rename_paths
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.ports import PortType
from headgate.graph.template import Catalog
from headgate.graph.value_names import FORM_TYPES
from headgate.graph.wiring import MAIN_OUTPUT, wire

Mode = Literal["once", "each", "until"]
"""once; each: for each item of the list that enters the selection; until: again until a condition holds."""
MOST_ROUNDS = 1000
EACH_STEP = "ForEach"
LOOP_STEP = "Loop"
_LISTS = {PortType.DATA.value, PortType.TABLE.value, "json", "multiselect"}
_TEXTS = {PortType.TEXT.value, "text", "long_text"}


@dataclass(frozen=True, slots=True)
class Repeat:
    """How often an extracted flow runs: once for each item, or until a condition on its result holds."""

    until: str = ""
    """JMESPath condition on the result of a round; empty: once for each item."""
    most: int = 10
    """Maximum number of rounds."""


def repeat_of(mode: Mode, until: str, most: int) -> Repeat | None:
    """Return how often a flow runs; None: once. Raises `FlowInvalid` without the condition of `until`."""
    if mode == "until" and not until.strip():
        _refuse("", "there is no condition that ends the repetition.", "Give until, for example score >= `8`.")
    return None if mode == "once" else Repeat(until.strip() if mode == "until" else "", most)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The component that repeats a flow: the names of its ports."""

    type: str
    value: str
    """The field of what is repeated."""
    form_field: str
    """The field that names the form field for it."""
    outputs: Mapping[str, str]
    """Type of the flow's result to the output that has it."""


_EACH = _Kind(EACH_STEP, "items", "item_field", {"Text": "text", "Data": "results", "Table": "table"})
_LOOP = _Kind(LOOP_STEP, "value", "value_field", {"Text": "text", "Data": "result"})


def repeat(extraction: Extraction, catalog: Catalog, how: Repeat) -> Extraction:
    """Return the extraction with a step that repeats the new flow. Raises `FlowInvalid` with the reason.

    One value that enters the selection is repeated: the list, or the value of the first round. The others are answers
    that are the same in each run. Of several results of a round, the first one of the same kind as that value is the
    value of the next round.
    """
    flow, call = extraction.flow, extraction.flow.node(extraction.node_id)
    if call is None:
        raise ValueError(extraction.node_id)
    kind = _LOOP if how.until else _EACH
    value = _repeated_value(extraction.extracted, call, kind)
    answers = _answers(flow, call, value)
    if kind is _LOOP and answers:
        problem = f"other values enter the selection, too: {', '.join(answers)}."
        _refuse("", problem, "Let only one value enter it.")
    inner, outputs = _with_result(extraction.extracted, call, kind)
    params: dict[str, JsonValue] = {"flow": call.params["flow"], kind.form_field: value}
    given = _object(call.params.get("answers"))
    if value in given:
        params[kind.value] = given[value]
    several = _object(call.params.get("outputs"))
    if len(several) > 1:
        params["outputs"] = several
        if kind is _LOOP:
            params["next_value"] = _next_value(several, extraction.extracted, call, value)
    params |= {"until": how.until, "most": how.most} if kind is _LOOP else {"answers": answers} if answers else {}
    step = call.model_copy(update={"type": kind.type, "params": params})
    outer = _with_step(flow, step, catalog, value=(value, kind.value), outputs=outputs)
    return replace(extraction, flow=outer, extracted=_with_items(inner, value) if kind is _EACH else inner)


def in_words(flow: Flow, node_id: str) -> str:
    """Return what a step repeats, read from the flow."""
    step = flow.node(node_id)
    if step is None or step.type not in {EACH_STEP, LOOP_STEP}:
        return ""
    port = "items" if step.type == EACH_STEP else "value"
    sources = [f"{edge.source}.{edge.output}" for edge in flow.edges if (edge.target, edge.input) == (node_id, port)]
    source = ", ".join(sources) or str(step.params.get(port, "")).strip("{} ")
    if step.type == EACH_STEP:
        return f"Step '{node_id}' runs the flow '{step.label}' for each item of {source}."
    limit = f"until {step.params['until']}, at most {step.params['most']} times"
    carried = f", then with '{name}' of the last round" if (name := step.params.get("next_value")) else ""
    return f"Step '{node_id}' runs the flow '{step.label}', first with {source}{carried}, {limit}."


def _repeated_value(inner: Flow, call: Node, kind: _Kind) -> str:
    """Return the form field of the value that is repeated: edges before references, lists before texts."""
    if call.params.get("text"):
        problem = "a selected step reads the run's text, and each repeated run has another text."
        _refuse("", problem, "Connect the text to the step, or leave the step out.")
    edges = {name: str(type_) for name, type_ in _object(call.params.get("inputs")).items()}
    given = set(_object(call.params.get("answers")))
    types = {question.id: question.type for question in inner.form if question.id in given}
    for types_of, allowed in ((edges, _LISTS), (types, _LISTS), (edges, _TEXTS), (types, _TEXTS)):
        names = [name for name, type_ in types_of.items() if type_ in allowed]
        if len(names) > 1:
            problem = f"several values enter the selection, and one of them can be repeated: {', '.join(names)}."
            _refuse("", problem, "Select steps that one list enters, or merge the values first.")
        if names:
            return names[0]
    wanted_value = "list" if kind is _EACH else "value"
    return _refuse(
        "",
        f"no {wanted_value} enters the selection that could be repeated.",
        "Select the steps behind the output that has it.",
    )


def _answers(flow: Flow, call: Node, value: str) -> dict[str, JsonValue]:
    """Return the answers that are the same in each run; what an edge carried becomes a reference."""
    answers = {name: answer for name, answer in _object(call.params.get("answers")).items() if name != value}
    types = _object(call.params.get("inputs"))
    for edge in flow.edges:
        if edge.target == call.id and edge.input != value:
            if types.get(edge.input) not in _LISTS | _TEXTS:
                problem = f"{edge.source}.{edge.output} enters the selection; a {types.get(edge.input)} is no answer."
                _refuse("", problem, "Leave the step that uses it out of the selection.")
            answers[edge.input] = f"{{{{{edge.source}.{edge.output}}}}}"
    return answers


def _next_value(results: Mapping[str, JsonValue], inner: Flow, call: Node, value: str) -> str:
    """Return the result of a round that the next one starts with: the first of the same kind as the repeated value."""
    types = {question.id: question.type for question in inner.form} | _object(call.params.get("inputs"))
    is_text = str(types[value]) in _TEXTS
    names = [name for name, type_ in results.items() if str(type_) in (_TEXTS if is_text else _LISTS)]
    if not names:
        problem = f"none of the values that leave the selection ({', '.join(results)}) is of the type of '{value}'."
        _refuse("", problem, "Select the steps up to the one that returns the value of the next round.")
    return names[0]


def _with_result(inner: Flow, call: Node, kind: _Kind) -> tuple[Flow, dict[str, str]]:
    """Return the new flow with its result, and the new names of the step's outputs: several are members of it."""
    declared = _object(call.params.get("outputs"))
    if len(declared) > 1:
        return inner, {name: name for name in declared}
    outputs = {"text": kind.outputs["Text"], "result": kind.outputs["Data"], MAIN_OUTPUT: kind.outputs["Data"]}
    for name, type_ in declared.items():
        if str(type_) not in kind.outputs:
            problem = f"a {type_} leaves the selection, which a repeated flow cannot return."
            _refuse("", problem, "Select the steps that use it as well.")
        outputs[name] = kind.outputs[str(type_)]
        last = inner.nodes[-1]  # gathers the values
        last = last.model_copy(update={"params": {**last.params, "expression": f'"{name}"'}})
        inner = inner.model_copy(update={"nodes": (*inner.nodes[:-1], last)})
    return inner, outputs


def _with_step(flow: Flow, step: Node, catalog: Catalog, *, value: tuple[str, str], outputs: Mapping[str, str]) -> Flow:
    """Return the flow with the step in place of the one that runs the flow once."""
    wiring = wire(flow, catalog)
    _check_members(flow, step.id, catalog)
    paths: dict[tuple[str, ...], tuple[str, ...]] = {(step.id, old): (step.id, new) for old, new in outputs.items()}
    nodes = [
        step if node.id == step.id else rename_paths(node, paths, wiring.templates[node.id]) for node in flow.nodes
    ]
    edges: list[Edge] = []
    for edge in flow.edges:
        if edge.source == step.id:
            edges.append(edge.model_copy(update={"output": outputs.get(edge.output, edge.output)}))
        elif edge.target != step.id:
            edges.append(edge)
        elif edge.input == value[0]:
            edges.append(edge.model_copy(update={"input": value[1]}))
    return flow.model_copy(update={"nodes": tuple(nodes), "edges": tuple(edges)})


def _check_members(flow: Flow, step_id: str, catalog: Catalog) -> None:
    """Raise `FlowInvalid` for a step that uses a member of the result, which is a list or another value then."""
    for key, reference in referred(wire(flow, catalog), [node.id for node in flow.nodes]):
        if reference.root == step_id and len(reference.path) > 2:
            problem = (
                f"step '{key}' uses '{'.'.join(reference.path[1:])}', a part of one result, and there are several."
            )
            _refuse(key, problem, "Select that step as well, or use the complete value.")


def _with_items(inner: Flow, name: str) -> Flow:
    """Return the new flow that gets an item where the selection got a table."""
    nodes = []
    for node in inner.nodes:
        types = _object(node.params.get(FORM_TYPES))
        if node.type == "FormInput" and types.get(name) == PortType.TABLE.value:
            params = {**node.params, FORM_TYPES: {**types, name: PortType.DATA.value}}
            node = node.model_copy(update={"params": params})  # noqa: PLW2901
        nodes.append(node)
    return inner.model_copy(update={"nodes": tuple(nodes)})


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _refuse(node_id: str, problem: str, remedy: str) -> NoReturn:
    raise FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, remedy, node_id)])
