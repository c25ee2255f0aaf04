"""Parses spec text to a flow and records the line of every part. The grammar is described in `spec`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.graph.model import (
    NODE_ID_PATTERN,
    PORT_PATTERN,
    TYPE_PATTERN,
    Edge,
    Flow,
    FlowSettings,
    FormField,
    Node,
)
from headgate.graph.names import did_you_mean, listed
from headgate.graph.spec_content import NOWHERE, TRIGGER, ContentReader, Lines, Member, Place
from headgate.graph.spec_lines import Faults, Line, read_lines
from headgate.graph.spec_print import TRIGGER_PARTS

SECTIONS = ("name", "description", "nodes", "edges", "form", "settings", "triggers")
NODE_MEMBERS = ("label", "code", "policy", "params")
_EDGE = re.compile(r"([^\s.]+)\.([^\s.]+)\s*(?:->|→)\s*([^\s.]+)\.([^\s.]+)")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*", re.DOTALL)
_WORDS = re.compile(r"[^a-z0-9]+")
_NODE = "id: Type"
_NODE_ID = (NODE_ID_PATTERN, "node id")
_FIELD_NAME = (PORT_PATTERN, "field name")
_OUTPUT_NAME = (PORT_PATTERN, "output name")
_INPUT_NAME = (PORT_PATTERN, "input name")


class TextTrigger(dict[str, JsonValue]):
    """A trigger as in the JSON file of a flow, with the lines of its values: what its kind has is known further up."""

    def __init__(self, given: dict[str, JsonValue], lines: Lines) -> None:
        super().__init__(given)
        self.lines = lines


@dataclass(slots=True)
class SpecFlow:
    """The parsed flow, and the lines of its parts."""

    flow: Flow = field(default_factory=Flow)
    nodes: dict[str, Lines] = field(default_factory=dict)
    """Node id to the lines of the node's members, by path in the model."""
    edges: dict[str, list[int]] = field(default_factory=dict)
    """Edge, as `a.text -> b.input`, to its lines."""
    triggers: list[TextTrigger] = field(default_factory=list)


def read_flow(text: str, *, with_triggers: bool = False) -> SpecFlow:
    """Parse a spec, with positions at the origin. Raises `SpecError`, also for triggers where nothing adds them."""
    faults = Faults()
    spec_flow = _SpecReader(faults, with_triggers=with_triggers).flow(read_lines(text, faults))
    faults.stop()
    return spec_flow


class _SpecReader(ContentReader):
    """Parses the sections."""

    def __init__(self, faults: Faults, *, with_triggers: bool) -> None:
        super().__init__(faults)
        self._with_triggers = with_triggers
        self.found = SpecFlow()

    def flow(self, lines: list[Line]) -> SpecFlow:
        if not lines:
            self.faults.add(1, "the spec is empty.", "Start with 'nodes:' and a node below it.")
        sections: dict[str, Callable[[Member], object]] = {
            "name": self.text,
            "description": self.text,
            "nodes": self._nodes,
            "edges": self._edges,
            "form": self._form,
            "settings": self._settings,
            "triggers": self._triggers,
        }
        values: dict[str, object] = {}
        places = Lines(1)
        for member in self.members(lines, "section:"):
            places.numbers[member.name,] = member.line.number
            read = sections.get(member.name)
            if read is not None:
                values[member.name] = read(member)
                continue
            hint = did_you_mean(member.name, SECTIONS) or "."
            self.fault(member.line, f"there is no section '{member.name}'{hint}", f"Sections: {listed(SECTIONS)}.")
        self.found.triggers = values.pop("triggers", None) or []  # type: ignore[assignment]
        if not self.faults.issues:
            self.found.flow = self.model(Flow, values, places, NOWHERE) or Flow()
        return self.found

    def _below(self, member: Member, example: str) -> list[Line]:
        """Return the lines of a section, with nothing after its colon."""
        if member.line.block is not None or _COMMENT.sub("", member.raw):
            what = f"no text is allowed after '{member.name}:'."
            self.fault(member.line, what, f"Write each on a separate line: {example}")
        return member.line.children

    def _nodes(self, member: Member) -> list[Node]:
        lines = self._below(member, "page: URL")
        read = [self._node(member) for member in self.members(lines, _NODE)]
        return [node for node in read if node is not None]

    def _node(self, member: Member) -> Node | None:
        type_ = _COMMENT.sub("", member.raw)
        if not self._good_name(member.line, member.name, _NODE_ID):
            return None
        place = Place(member.name)
        if not re.match(TYPE_PATTERN, type_) or member.line.block is not None:
            given = f"not '{type_[:60]}'" if type_ else "but none is given"
            self.fault(
                member.line,
                f"node '{member.name}' needs a component type, {given}.",
                f"Write it as '{member.name}: Type', for example '{member.name}: AIStep'.",
                place,
            )
            return None
        values: dict[str, object] = {"id": member.name, "type": type_}
        lines = Lines(member.line.number)
        self.found.nodes[member.name] = lines
        params = self._node_members(member, values, lines, place)
        return self.model(Node, values | {"params": params}, lines, place)

    def _node_members(
        self, member: Member, values: dict[str, object], lines: Lines, place: Place
    ) -> dict[str, JsonValue]:
        """Fill `values` with a node's own members; returns its params."""
        params: dict[str, JsonValue] = {}
        for node_member in self.members(member.line.children, "field: value", place):
            if node_member.name in NODE_MEMBERS:
                lines.numbers[node_member.name,] = node_member.line.number
            if node_member.name in {"label", "code"}:
                values[node_member.name] = self.text(node_member, place) or ""
            elif node_member.name == "policy":
                values["policy"] = self._policy(node_member, lines, place)
            elif node_member.name == "params":
                self._params(node_member, params, lines, place)
            else:
                self._param(node_member, params, lines, place)
        return params

    def _params(self, member: Member, params: dict[str, JsonValue], lines: Lines, place: Place) -> None:
        if member.raw and member.line.block is None and not member.line.children:
            given = self.value(member, place)
            if isinstance(given, dict):
                params.update(given)
                return
        for param in self.members(self._below(member, "field: value"), "field: value", place):
            self._param(param, params, lines, place)

    def _param(self, member: Member, params: dict[str, JsonValue], lines: Lines, place: Place) -> None:
        if member.name in params:
            self.fault(member.line, f"'{member.name}' appears twice.", "Keep one of them.", place)
        lines.numbers["params", member.name] = member.line.number
        if self._good_name(member.line, member.name, _FIELD_NAME, place):
            params[member.name] = self.value(member, Place(place.node, member.name))

    def _policy(self, member: Member, lines: Lines, place: Place) -> JsonValue:
        if member.raw.startswith("{"):
            return self.value(member, place)
        policy: dict[str, JsonValue] = {}
        for rule in self.members(self._below(member, "input_source: flow_input"), "rule: value", place):
            lines.numbers["policy", rule.name] = rule.line.number
            for inner in rule.line.children:
                lines.numbers["policy", rule.name, inner.text.partition(":")[0]] = inner.number
            if rule.name in {"input_config", "output_config"} and rule.line.children:
                policy[rule.name] = self._call(rule, place)
            elif rule.name == "input_bindings":
                policy[rule.name] = self.texts(rule, place)
            else:
                policy[rule.name] = self.value(rule, place)
        return policy

    def _call(self, member: Member, place: Place) -> JsonValue:
        call: dict[str, JsonValue] = {}
        for call_member in self.members(self._below(member, "url: https://example.org"), "name: value", place):
            if call_member.name in {"url", "body"}:
                call[call_member.name] = self.text(call_member, place)
            else:
                call[call_member.name] = (
                    self.texts(call_member, place) if call_member.name == "headers" else self.value(call_member, place)
                )
        return call

    def _edges(self, member: Member) -> list[Edge]:
        read = [self._edge(line) for line in self._below(member, "page.text -> brief.input")]
        return [edge for edge in read if edge is not None]

    def _edge(self, line: Line) -> Edge | None:
        text = _COMMENT.sub("", line.text.removeprefix("- ").lstrip())
        match = _EDGE.fullmatch(text)
        if match is None or line.children or line.block is not None:
            self.fault(
                line,
                f"expected 'node.output -> node.input', got '{text[:60]}'.",
                "Name both ports, for example page.text -> brief.input.",
            )
            return None
        source, output, target, input_ = match.groups()
        names = ((source, _NODE_ID), (output, _OUTPUT_NAME), (target, _NODE_ID), (input_, _INPUT_NAME))
        if not all(self._good_name(line, name, rule) for name, rule in names):
            return None
        edge = Edge(source=source, output=output, target=target, input=input_)
        self.found.edges.setdefault(edge.id, []).append(line.number)
        return edge

    def _form(self, member: Member) -> list[FormField]:
        lines = self._below(member, "topic: text")
        read = [self._form_field(member) for member in self.members(lines, "field: type")]
        return [field for field in read if field is not None]

    def _form_field(self, member: Member) -> FormField | None:
        lines = Lines(member.line.number)
        values: dict[str, object] = {"id": member.name, "type": _COMMENT.sub("", member.raw) or "text"}
        for field_member in self.members(member.line.children, "name: value"):
            lines.numbers[field_member.name,] = field_member.line.number
            values[field_member.name] = (
                self.text(field_member) or "" if field_member.name == "label" else self.value(field_member)
            )
        return self.model(FormField, values, lines, Place(field=member.name))

    def _settings(self, member: Member) -> FlowSettings | None:
        lines = Lines(member.line.number)
        values: dict[str, object] = {}
        for setting in self.members(self._below(member, "data_retention_days: 30"), "name: value"):
            lines.numbers[setting.name,] = setting.line.number
            values[setting.name] = self.text(setting) or "" if setting.name == "icon" else self.value(setting)
        return self.model(FlowSettings, values, lines, NOWHERE)

    def _triggers(self, member: Member) -> list[TextTrigger]:
        if self._with_triggers:
            below = self._below(member, '"Every morning": schedule')
            return [self._trigger(trigger) for trigger in self.members(below, TRIGGER)]
        remedy = "Import the text as a file, or add the triggers to the flow afterwards."
        self.fault(member.line, "triggers are not added from this text.", remedy)
        return []

    def _trigger(self, member: Member) -> TextTrigger:
        lines, config = Lines(member.line.number), dict[str, JsonValue]()
        given: dict[str, JsonValue] = {"name": member.name, "config": config}
        for setting in self.members(member.line.children, "setting: value"):
            if setting.name == "kind":
                self.fault(setting.line, "the kind is not a setting.", f"Write '{member.name}: {setting.raw[:60]}'.")
                continue
            path = (setting.name,) if setting.name in TRIGGER_PARTS else ("config", setting.name)
            _number(lines, path, setting.line)
            (given if setting.name in TRIGGER_PARTS else config)[setting.name] = self.value(setting)
        config["kind"] = _COMMENT.sub("", member.raw)
        return TextTrigger(given, lines)

    def _good_name(self, line: Line, name: str, rule: tuple[str, str], place: Place = NOWHERE) -> bool:
        """Return whether a name matches its rule (pattern, description); records a fault otherwise."""
        pattern, what = rule
        if re.match(pattern, name) and not name.endswith("\n"):
            return True
        better = _as_id(name)
        form = "at most 64 lower-case letters, digits and _, beginning with a letter"
        remedy = f"Write '{better}': {form}." if better else f"Use {form}."
        self.fault(line, f"'{name[:60]}' is not a valid {what}.", remedy, place)
        return False


def _number(lines: Lines, path: tuple[str, ...], line: Line) -> None:
    """Record the line of a path, and those of all paths below it."""
    lines.numbers[path] = line.number
    for inner in line.children:
        _number(lines, (*path, inner.text.partition(":")[0]), inner)


def _as_id(name: str) -> str:
    """Return the nearest valid id: `Page 1` is `page_1`; empty when there is none."""
    return _WORDS.sub("_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:60]).lower()).strip("_").lstrip("0123456789_")
