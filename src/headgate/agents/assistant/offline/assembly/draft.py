"""The flow under construction."""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from headgate.foundation.names import name_from
from headgate.graph.model import Edge, Flow, FormField, Node
from headgate.graph.names import free_name
from headgate.graph.own_code import with_code
from headgate.graph.template import Catalog

_LONGEST_LABEL = 60


class Draft:
    """Nodes and edges being put together. Ids are made from the words that describe a step."""

    def __init__(self, catalog: Catalog, base: Flow | None = None) -> None:
        self.catalog = catalog
        self.base = base or Flow()
        self.nodes: dict[str, Node] = {node.id: node for node in self.base.nodes}
        self.edges: list[Edge] = list(self.base.edges)
        self.form: dict[str, FormField] = {field.id: field for field in self.base.form}

    def add(self, type_: str, name: str, params: Mapping[str, JsonValue] | None = None, label: str = "") -> str:
        """Add a node and give its id. Raises `MissingComponent` when the catalog has no such type."""
        if self.catalog.template(type_) is None:
            raise MissingComponent(type_)
        node_id = free_name(slug(name) or slug(type_), self.nodes)
        shown = label[:1].upper() + label[1:_LONGEST_LABEL]
        self.nodes[node_id] = Node(id=node_id, type=type_, label=shown, params=dict(params or {}))
        return node_id

    def connect(self, source: str, output: str, target: str, port: str) -> None:
        """Add an edge, once."""
        edge = Edge(source=source, output=output, target=target, input=port)
        if edge not in self.edges:
            self.edges.append(edge)

    def configure(self, node_id: str, **params: JsonValue) -> None:
        """Set values of a node."""
        node = self.nodes[node_id]
        self.nodes[node_id] = node.model_copy(update={"params": {**node.params, **params}})

    def remove(self, node_id: str) -> None:
        """Remove a node and its edges."""
        del self.nodes[node_id]
        self.edges = [edge for edge in self.edges if node_id not in {edge.source, edge.target}]

    def ask_for(self, field_id: str, *, number: bool = False) -> str:
        """Make sure the form asks for a field and give its id."""
        name = slug(field_id) or "field"
        known = self.form.get(name)
        if known is None or (number and known.type == "text"):
            label = field_id[:1].upper() + field_id[1:]
            self.form[name] = FormField(id=name, label=label, type="number" if number else "text")
        return name

    def flow(self, name: str, description: str) -> Flow:
        """What has been put together; own components bring their code."""
        made = Flow(
            name=name_from(name, longest=200, otherwise="Untitled flow"),
            description=description[:2000],
            nodes=tuple(self.nodes.values()),
            edges=tuple(self.edges),
            form=tuple(self.form.values()),
            settings=self.base.settings,
        )
        return with_code(made, self.catalog)


class MissingComponent(LookupError):
    """The catalog has no component of the type that an operation needs."""


def slug(text: str) -> str:
    """An id of words: `Count by licence` is `count_by_licence`; empty when nothing is left."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower().translate(_FOLDED)).strip("_")[:40].strip("_")
    return f"n_{plain}" if plain[:1].isdigit() else plain


_FOLDED = str.maketrans({"å": "a", "ä": "a", "ö": "o", "é": "e", "ü": "u"})
