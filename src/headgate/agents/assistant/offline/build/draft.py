"""The flow under construction."""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from headgate.foundation.names import name_from
from headgate.graph import edits
from headgate.graph.model import Edge, Flow, FormField, FormFieldType, Node
from headgate.graph.names import free_name
from headgate.graph.own_code import with_code
from headgate.graph.template import Catalog, Template
from headgate.toolkit.flow.parts import with_members

_LONGEST_LABEL = 80


class Draft:
    """Nodes and edges under construction. Ids are derived from the description of a step."""

    def __init__(self, catalog: Catalog, base: Flow | None = None) -> None:
        self.catalog = catalog
        self.base = base or Flow()
        self.nodes: dict[str, Node] = {node.id: node for node in self.base.nodes}
        self.edges: list[Edge] = list(self.base.edges)
        self.form: dict[str, FormField] = {field.id: field for field in self.base.form}
        self.settings = self.base.settings
        self.label = ""
        """Description of the current step: the title of its nodes."""

    def add(self, type_: str, name: str, params: Mapping[str, JsonValue] | None = None, label: str = "") -> str:
        """Add a node and return its id. Raises `MissingComponent` when the catalogue has no such type."""
        if self.catalog.template(type_) is None:
            raise MissingComponent(type_)
        node_id = free_name(slug(name) or slug(type_), self.nodes)
        title = self._title(label or self.label)
        self.nodes[node_id] = Node(id=node_id, type=type_, label=title, params=dict(params or {}))
        return node_id

    def _title(self, description: str) -> str:
        """Return the label of a new node; later nodes of the same description are numbered."""
        title = description[:1].upper() + description[1:_LONGEST_LABEL]
        used = {node.label for node in self.nodes.values() if node.label}
        numbered = (title, *(f"{title} ({number})" for number in range(2, len(used) + 2)))
        return next(label for label in numbered if label not in used)

    def add_after(
        self,
        source: tuple[str, str],
        type_: str,
        name: str,
        params: Mapping[str, JsonValue],
        into: str,
        *,
        label: str = "",
    ) -> str:
        """Add a node whose input `into` gets what comes out of a node and port. Raises `MissingComponent`."""
        node_id = self.add(type_, name, params, label)
        self.connect(*source, node_id, into)
        return node_id

    def template(self, node_id: str) -> Template | None:
        """Return the template of a node with its params; None for an unknown type."""
        node = self.nodes[node_id]
        return self.catalog.template(node.type, node.params)

    def connect(self, source: str, output: str, target: str, port: str) -> None:
        """Add an edge, once."""
        edge = Edge(source=source, output=output, target=target, input=port)
        if edge not in self.edges:
            self.edges.append(edge)

    def configure(self, node_id: str, **params: JsonValue) -> None:
        """Set values of a node."""
        node = self.nodes[node_id]
        self.nodes[node_id] = node.model_copy(update={"params": {**node.params, **params}})

    def govern(self, node_id: str, members: Mapping[str, JsonValue]) -> None:
        """Set members of the policy of a node; without a node, settings of the flow. Raises `ToolRefused`."""
        if not node_id:
            budgets = {name: value for name, value in members.items() if isinstance(value, dict)}
            known = self.settings.model_dump(mode="json")
            merged = {name: {**(known[name] or {}), **value} for name, value in budgets.items()}
            self.settings = with_members(self.settings, {**members, **merged}, "settings")
            return
        node = self.nodes[node_id]
        self.nodes[node_id] = node.model_copy(update={"policy": with_members(node.policy, dict(members), "policy")})

    def remove(self, node_id: str) -> None:
        """Remove a node and its edges."""
        del self.nodes[node_id]
        self.edges = [edge for edge in self.edges if node_id not in {edge.source, edge.target}]

    def rename(self, old: str, new: str) -> None:
        """Give a node another id; its edges and references follow."""
        flow = self.base.model_copy(update={"nodes": tuple(self.nodes.values()), "edges": tuple(self.edges)})
        flow = edits.rename_node(flow, old, new, self.catalog).flow
        self.nodes, self.edges = {node.id: node for node in flow.nodes}, list(flow.edges)

    def ask_for(self, field_id: str, *, number: bool = False, type_: FormFieldType = "text") -> str:
        """Ensure that the form contains a field and return its id."""
        name = slug(field_id) or "field"
        known = self.form.get(name)
        if known is None or (number and known.type == "text"):
            label = field_id[:1].upper() + field_id[1:]
            self.form[name] = FormField(id=name, label=label, type="number" if number else type_)
        return name

    def flow(self, name: str = "", description: str = "") -> Flow:
        """Return the flow; custom components include their code."""
        made = self.base.model_copy(
            update={
                "name": name_from(name, longest=200, otherwise="Untitled flow") if name else self.base.name,
                "description": description[:2000] or self.base.description,
                "nodes": tuple(self.nodes.values()),
                "edges": tuple(self.edges),
                "form": tuple(self.form.values()),
                "settings": self.settings,
            }
        )
        return with_code(made, self.catalog)


class MissingComponent(LookupError):
    """The catalogue has no component of the type that an operation needs."""


def slug(text: str) -> str:
    """Return an id from words: `Count by licence` is `count_by_licence`; empty when nothing is left."""
    folded = re.sub(r"[^a-z0-9]+", "_", text.lower().translate(_FOLDED)).strip("_")[:40].strip("_")
    return f"n_{folded}" if folded[:1].isdigit() else folded


_FOLDED = str.maketrans({"å": "a", "ä": "a", "ö": "o", "é": "e", "ü": "u"})
