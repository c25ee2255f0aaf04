"""Merges one flow into another on the same canvas, without changing the first."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.graph.check_inputs import FORM_READERS
from headgate.graph.geometry import bounds
from headgate.graph.layout import COLUMN_GAP
from headgate.graph.mentions import rename_paths
from headgate.graph.model import Flow, FormField, Node, Position
from headgate.graph.names import free_name
from headgate.graph.template import Catalog
from headgate.graph.wiring import FLOW_INPUT, RESERVED_IDS, wire


@dataclass(frozen=True, slots=True)
class Merged:
    """Both flows in one."""

    flow: Flow
    ids: Mapping[str, str]
    """Node id in the added flow to its id in the merged flow."""
    form_ids: Mapping[str, str]
    """The same for its form fields."""


def merge(base: Flow, other: Flow, offset: Position | None = None, catalog: Catalog | None = None) -> Merged:
    """Add the nodes, edges and form of `other` to `base`.

    Ids that are taken get a number (`url` becomes `url_2`) and every edge and `{{...}}` of `other` is updated.
    References by position (`{{step_2...}}`) become references by id, since positions change. Equal form fields are
    merged. Name, description and settings are those of `base`.

    Args:
        base: The flow that stays unchanged.
        other: The flow that is added.
        offset: Added to the positions of `other`; right of everything in `base` when None.
        catalog: Distinguishes steps from configuration and provides the sizes of nodes; guessed from the edges when
            None.
    """
    ids = _free_ids([node.id for node in other.nodes], {node.id for node in base.nodes} | RESERVED_IDS)
    form_ids = _form_ids(base.form, other.form)
    aliases = {alias: step for alias, step in wire(other, catalog).aliases.items() if alias not in ids}
    paths: dict[tuple[str, ...], tuple[str, ...]] = {(old,): (new,) for old, new in ids.items() if old != new}
    paths |= {(alias,): (ids[step],) for alias, step in aliases.items()}
    paths |= {(FLOW_INPUT, old): (FLOW_INPUT, new) for old, new in form_ids.items() if old != new}
    by = offset or _right_of(base, other, catalog)
    nodes = []
    for node in other.nodes:
        template = catalog.template(node.type, node.params) if catalog else None
        renamed = _with_form_ids(rename_paths(node, paths, template), form_ids)
        position = Position(x=node.position.x + by.x, y=node.position.y + by.y)
        nodes.append(renamed.model_copy(update={"id": ids[node.id], "position": position}))
    edges = [
        edge.model_copy(
            update={"source": ids.get(edge.source, edge.source), "target": ids.get(edge.target, edge.target)}
        )
        for edge in other.edges
    ]
    field_ids = {field.id for field in base.form}
    fields = [
        field.model_copy(update={"id": form_ids[field.id]})
        for field in other.form
        if form_ids[field.id] not in field_ids
    ]
    flow = base.model_copy(
        update={"nodes": (*base.nodes, *nodes), "edges": (*base.edges, *edges), "form": (*base.form, *fields)}
    )
    return Merged(flow, ids, form_ids)


def _free_ids(requested: list[str], taken: set[str]) -> dict[str, str]:
    """Return free ids for the requested ones, unchanged where possible."""
    used = taken | set(requested)
    free_ids: dict[str, str] = {}
    for requested_id in requested:
        free_ids[requested_id] = requested_id if requested_id not in taken else free_name(requested_id, used)
        used.add(free_ids[requested_id])
    return free_ids


def _form_ids(base: tuple[FormField, ...], other: tuple[FormField, ...]) -> dict[str, str]:
    """Return field ids of the other form to ids in the merged one. Fields of equal kind are merged."""
    fields_by_id = {field.id: field for field in base}
    used = set(fields_by_id) | {field.id for field in other}
    merged_ids: dict[str, str] = {}
    for field in other:
        same = fields_by_id.get(field.id)
        shared = same is None or (same.type == field.type and same.options == field.options)
        merged_ids[field.id] = field.id if shared else free_name(field.id, used)
        used.add(merged_ids[field.id])
    return merged_ids


def _with_form_ids(node: Node, form_ids: Mapping[str, str]) -> Node:
    """Return the node with the form fields in its params renamed."""
    name = FORM_READERS.get(node.type)
    if name is None or name not in node.params:
        return node
    value = node.params[name]
    renamed: JsonValue = value
    if isinstance(value, str):
        renamed = form_ids.get(value, value)
    elif isinstance(value, list):
        renamed = [form_ids.get(field_id, field_id) if isinstance(field_id, str) else field_id for field_id in value]
    return node.model_copy(update={"params": {**node.params, name: renamed}})


def _right_of(base: Flow, other: Flow, catalog: Catalog | None) -> Position:
    """Return the offset that places the other flow right of everything, aligned at the top."""
    around, own = bounds(base, catalog), bounds(other, catalog)
    if around is None or own is None:
        return Position()
    return Position(x=around.right + COLUMN_GAP - own.x, y=around.y - own.y)
