"""A Flowise component: its inputs and outputs, split like on the canvas (seed 004, DD-013, DD-020). Pure.

`GET /nodes` gives one flat list `inputs`. A node of a chatflow has `inputAnchors`, which other nodes are connected to,
`inputParams`, which hold values, and `outputAnchors`; without them a chatflow is saved and then fails.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domains.flowise.answers import objects
from headgate.agents.codev.domains.flowise.quoting import NAME, bounded, one_line
from headgate.graph.json_values import plain_json

MOST_INPUTS = 200
MOST_OUTPUTS = 50
AGENT_FLOWS = "Agent Flows"
NOTES = frozenset({"stickyNote", "stickyNoteAgentflow"})
_NOT_IN_A_NODE = frozenset({"inputs", "outputs", "credential", "icon", "filePath", "loadMethods", "loadMethod"})
"""Members of a component that its nodes do not have, or have in another form."""


@dataclass(frozen=True, slots=True)
class NodeSchema:
    """One component of a server."""

    name: str
    label: str
    category: str
    raw: Mapping[str, Any] = field(repr=False)
    inputs: tuple[dict[str, Any], ...] = field(repr=False)
    outputs: tuple[dict[str, Any], ...] = field(repr=False)

    @property
    def is_agentflow(self) -> bool:
        """Whether it is a node of an AgentflowV2."""
        return self.category == AGENT_FLOWS

    @property
    def version(self) -> JsonValue:
        """The component's version."""
        version = self.raw.get("version")
        return version if isinstance(version, int | float) else None

    @property
    def credential(self) -> dict[str, Any] | None:
        """The input for a credential; None without one."""
        credential = self.raw.get("credential")
        return credential if isinstance(credential, dict) and isinstance(credential.get("name"), str) else None

    @property
    def credential_types(self) -> tuple[str, ...]:
        """Types of credential that it takes."""
        return names_of(self.credential)

    def anchors(self, node_id: str) -> list[dict[str, Any]]:
        """`inputAnchors` of a node."""
        return [_with_id(field, node_id) for field in self.inputs if is_anchor(field)]

    def params(self, node_id: str) -> list[dict[str, Any]]:
        """`inputParams` of a node, the credential first."""
        params = [_with_id(field, node_id) for field in self.inputs if not is_anchor(field)]
        return params if self.credential is None else [_with_id(self.credential, node_id), *params]

    def output_anchors(self, node_id: str) -> list[dict[str, Any]]:
        """Return `outputAnchors` of a node: one; one with `options` for several outputs; none if hidden."""
        if self.raw.get("hideOutput") is True:
            return []
        if self.is_agentflow:
            return self._agentflow_outputs(node_id)
        if self.outputs:
            options = [_option(output, node_id) for output in self.outputs]
            first = self.outputs[0]
            return [
                {
                    "name": "output",
                    "label": "Output",
                    "type": "options",
                    "description": first.get("description") or "",
                    "default": first["name"],
                    "options": options,
                }
            ]
        classes = _classes(self.raw)
        return [
            {
                "id": f"{node_id}-output-{self.name}-{'|'.join(classes)}",
                "name": self.name,
                "label": self.raw.get("type") or self.label,
                "description": self.raw.get("description") or "",
                "type": " | ".join(classes),
            }
        ]

    def defaults(self) -> dict[str, JsonValue]:
        """Return the values of a new node; like on the canvas, a falsy value is an empty text."""
        return {field["name"]: deepcopy(field.get("default")) or "" for field in self.inputs}

    def data(self, node_id: str) -> dict[str, Any]:
        """`data` of a new node."""
        members = {name: value for name, value in self.raw.items() if name not in _NOT_IN_A_NODE}
        outputs = {"output": self.outputs[0]["name"]} if self.outputs and not self.is_agentflow else {}
        return {
            **members,
            "id": node_id,
            "inputAnchors": self.anchors(node_id),
            "inputParams": self.params(node_id),
            "inputs": self.defaults(),
            "outputAnchors": self.output_anchors(node_id),
            "outputs": outputs,
        }

    def slim(self) -> dict[str, JsonValue]:
        """Name, category and label (DD-015)."""
        return {"name": self.name, "category": self.category, "label": self.label}

    def described(self) -> dict[str, JsonValue]:
        """Return its description for a model: the server's text, truncated."""
        description: dict[str, JsonValue] = {
            **self.slim(),
            "version": self.version,
            "description": one_line(self.raw.get("description"), 500),
            "baseClasses": list[JsonValue](_classes(self.raw)),
            "inputAnchors": [_shown(field) for field in self.inputs if is_anchor(field)],
            "inputParams": [_shown(field) for field in self.inputs if not is_anchor(field)],
            "outputs": [{"name": output["name"], "baseClasses": list(_classes(output))} for output in self.outputs],
        }
        if self.credential is not None:
            description["credential"] = {
                "types": list[JsonValue](self.credential_types),
                "optional": self.credential.get("optional") is True,
            }
        return description

    def _agentflow_outputs(self, node_id: str) -> list[dict[str, Any]]:
        ends = [str(number) for number in range(len(self.outputs))] or [self.name]
        return [{"id": f"{node_id}-output-{end}", "label": self.label, "name": self.name} for end in ends]


def schema_of(raw: Mapping[str, Any]) -> NodeSchema | None:
    """A component as the server describes it; None for what cannot be one."""
    name = raw.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name) or not _is_plain(raw):
        return None
    return NodeSchema(
        name=name,
        label=one_line(raw.get("label"), 100) or name,
        category=one_line(raw.get("category"), 100),
        raw=raw,
        inputs=tuple(field for field in objects(raw.get("inputs"), MOST_INPUTS) if _has_name(field)),
        outputs=tuple(output for output in objects(raw.get("outputs"), MOST_OUTPUTS) if _has_name(output)),
    )


def is_anchor(given: Mapping[str, Any]) -> bool:
    """Whether an input takes another node: its type is a class, or several types at once."""
    type_ = given.get("type")
    return isinstance(type_, str) and (type_[:1].isupper() or "|" in type_)


def names_of(credential: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Types of credential that an input takes."""
    types = credential.get("credentialNames") if credential is not None else None
    return tuple(type_ for type_ in types if isinstance(type_, str))[:20] if isinstance(types, list) else ()


def classes_of(type_: object) -> frozenset[str]:
    """Return the classes of an anchor's type: `A | B`."""
    return frozenset(name.strip() for name in type_.split("|")) if isinstance(type_, str) else frozenset()


def _is_plain(raw: Mapping[str, Any]) -> bool:
    """Whether it can be stored: it becomes part of every node created from it."""
    try:
        plain_json(dict(raw))
    except ValueError:
        return False
    return True


def _has_name(given: Mapping[str, Any]) -> bool:
    name = given.get("name")
    return isinstance(name, str) and 0 < len(name) <= 128


def _with_id(given: Mapping[str, Any], node_id: str) -> dict[str, Any]:
    return {**given, "id": f"{node_id}-input-{given['name']}-{given.get('type')}"}


def _classes(given: Mapping[str, Any]) -> list[str]:
    classes = given.get("baseClasses")
    return [name for name in classes if isinstance(name, str)][:50] if isinstance(classes, list) else []


def _option(output: Mapping[str, Any], node_id: str) -> dict[str, Any]:
    classes = _classes(output)
    return {
        "id": f"{node_id}-output-{output['name']}-{'|'.join(classes)}",
        "name": output["name"],
        "label": output.get("label") or output["name"],
        "description": output.get("description") or "",
        "type": " | ".join(classes),
        "isAnchor": output.get("isAnchor"),
        "hidden": output.get("hidden"),
    }


_DEEPEST = 4
_SHOWN_MEMBERS = ("name", "type", "optional", "list", "acceptVariable", "default", "show")


def _shown(given: Mapping[str, Any], depth: int = 0) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {
        name: bounded(given[name]) for name in _SHOWN_MEMBERS if given.get(name) not in (None, "", False)
    }
    if one_line(given.get("description")):
        members["description"] = one_line(given.get("description"), 200)
    options = [one_line(option.get("name"), 80) for option in objects(given.get("options"), 30)]
    if options:
        members["options"] = list[JsonValue](options)
    if given.get("loadConfig") is True:
        members["config"] = f"{members.get('name')}Config"
    items = [_shown(row, depth + 1) for row in objects(given.get("array"), 30)] if depth < _DEEPEST else []
    if items:
        members["array"] = list[JsonValue](items)
    return members
