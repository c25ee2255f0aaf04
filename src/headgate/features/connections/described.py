"""Schemas of step outputs that are known before a run: responses of operations as described, and extracted data."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from headgate.features.connections.known import KnownConnection, operations_of
from headgate.graph.connection_reference import connections_of
from headgate.graph.described import Described, contract_form, member_at
from headgate.graph.json_schema import Schema
from headgate.graph.model import Node
from headgate.graph.template import Template
from headgate.graph.wiring import Wiring


def described_outputs(wiring: Wiring, connections: Mapping[str, Sequence[KnownConnection]]) -> Described:
    """Return what is known of the main outputs of steps without an output contract, which says more."""
    described: dict[str, Schema] = {}
    for step in wiring.steps:
        node, template = wiring.nodes[step], wiring.templates[step]
        if template is None or node.policy.output_contract is not None:
            continue
        schema = _extracted(node) or _response(node, template, connections)
        if schema:
            described[step] = schema
    return described


def response_form(contract: Mapping[str, Any], *, items: str | None = None) -> dict[str, JsonValue]:
    """Return the described response of an operation in the form of contracts; empty when it is not described.

    With `items`, the path of the items in a page, it is the list of the items of all pages.
    """
    page = contract_form(contract.get("output"))
    if items is None:
        return page
    inner = member_at(page, tuple(items.split("."))) if items else page
    return {"type": "array", "items": inner.get("items", {})} if inner is not None else {"type": "array"}


def _extracted(node: Node) -> Schema | None:
    """Return the schema that a model extracts data by."""
    schema = node.params.get("schema") if node.type == "StructuredOutput" else None
    return contract_form(schema) if isinstance(schema, dict) and "properties" in schema else None


def _response(node: Node, template: Template, connections: Mapping[str, Sequence[KnownConnection]]) -> Schema | None:
    names = operations_of(node.params) if template.field("operation") is not None else []
    rows = [
        row for _, reference in connections_of(node.params, template) for row in connections.get(reference.name, ())
    ]
    contract = rows[0].operations.get(names[0]) if names and rows else None
    pages = node.params.get("pages", 1)
    if contract is None or not isinstance(pages, int):
        return None
    own = node.params.get("paging")
    paging = {**(contract.get("paging") or {}), **(own if isinstance(own, dict) else {})}
    return response_form(contract, items=str(paging.get("items", "")) if pages > 1 else None)
