"""The inverse of assembly: Flowise's format as a compact description that a model can change. Pure.

A value that is too long to be shown, or that may be a secret, is shown as `{"kept": length, "begins": ...}`; the same
given back leaves it as it is.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domains.flowise.assembly import differing_inputs, output_of
from headgate.agents.codev.domains.flowise.drawn import (
    anchors_of,
    credential_of,
    data_of,
    edges_of,
    handles_of,
    id_of,
    is_agentflow_node,
    nodes_of,
    options_of,
    params_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.node_schema import NodeSchema
from headgate.agents.codev.domains.flowise.quoting import quoted, seen, visible
from headgate.agents.codev.domains.flowise.spec import KEPT, Spec, SpecEdge, SpecNode
from headgate.foundation.log import redact

MOST_SHOWN = 6000
"""Characters of one value."""
_SECRET_TYPES = frozenset({"password", "credential"})


def compact(definition: Mapping[str, Any], schemas: Mapping[str, NodeSchema]) -> Spec:
    """Return a chatflow as a complete description."""
    nodes = [_node(node, schemas.get(text_of(data_of(node).get("name")))) for node in nodes_of(definition)]
    there = {id_of(node): data_of(node) for node in nodes_of(definition)}
    edges = [_edge(edge, there) for edge in edges_of(definition)]
    return Spec(nodes, [edge for edge in edges if edge.source in there and edge.target in there])


def shown(
    definition: Mapping[str, Any], schemas: Mapping[str, NodeSchema], *, most: int = MOST_SHOWN
) -> dict[str, JsonValue]:
    """Return the same for a model: without secrets, with values longer than `most` truncated."""
    spec = compact(definition, schemas)
    secret = {id_of(node): _secrets(data_of(node)) for node in nodes_of(definition)}
    for node in spec.nodes:
        node.inputs = {
            name: shown_value(value, secret=name in secret.get(node.id, ()), most=most)
            for name, value in node.inputs.items()
        }
    return {name: seen(value) for name, value in spec.plain().items()}


def shown_value(value: JsonValue, *, secret: bool = False, most: int = MOST_SHOWN) -> JsonValue:
    """Return a value for display: itself, or a placeholder."""
    text = value if isinstance(value, str) else str(value)
    if secret:
        return {KEPT: len(text)}
    if redact(value) != value or len(text) > most:
        return {KEPT: len(text), "begins": quoted(redact(value), min(200, most)) if isinstance(value, str) else ""}
    return visible(value) if isinstance(value, str) else value


def is_secret(data: Mapping[str, Any], name: str) -> bool:
    """Whether an input of a node contains a secret."""
    return name in _secrets(data)


def _node(node: Mapping[str, Any], schema: NodeSchema | None) -> SpecNode:
    data = data_of(node)
    label = text_of(data.get("label"))
    usual = schema.label if schema is not None else ""
    return SpecNode(
        id=id_of(node),
        name=text_of(data.get("name")),
        inputs=differing_inputs(data, schema),
        credential=credential_of(data) or None,
        label=label if label and label != usual and schema is not None else None,
        output=output_of(data),
    )


def _edge(edge: Mapping[str, Any], there: Mapping[str, Mapping[str, Any]]) -> SpecEdge:
    source, target = text_of(edge.get("source")), text_of(edge.get("target"))
    giving, taking = there.get(source, {}), there.get(target, {})
    begins, ends = text_of(edge.get("sourceHandle")), text_of(edge.get("targetHandle"))
    if is_agentflow_node(giving):
        many = len(handles_of(giving)) > 1
        return SpecEdge(source, begins.rpartition("-output-")[2] if many else "", target, "")
    output = next((text_of(option.get("name")) for option in options_of(giving) if option.get("id") == begins), "")
    places = [*anchors_of(taking), *params_of(taking)]
    return SpecEdge(
        source, output, target, next((text_of(field.get("name")) for field in places if field.get("id") == ends), "")
    )


def _secrets(data: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(text_of(param.get("name")) for param in params_of(data) if param.get("type") in _SECRET_TYPES)
