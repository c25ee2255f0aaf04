"""Puts one flow beside another on the same canvas, nothing of the first changed."""

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
    """Every node id of the flow that was added, to its id in the merged flow."""
    form_ids: Mapping[str, str]
    """The same for its form fields."""


def merge(base: Flow, other: Flow, offset: Position | None = None, catalog: Catalog | None = None) -> Merged:
    """Add the nodes, edges and form of `other` to `base`.

    Ids that are taken get a number (`url` becomes `url_2`) and every edge and `{{...}}` of `other` follows. References
    by position (`{{step_2...}}`) become references by id, since positions change. A form field that both have alike is
    asked once. Name, description and settings stay those of `base`.

    Args:
        base: The flow that stays as it is.
        other: The flow that is added.
        offset: Added to the positions of `other`; right of everything in `base` when None.
        catalog: Tells steps from configuration and gives the sizes of nodes; guessed from the edges when None.
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
        made = _with_form_ids(rename_paths(node, paths, template), form_ids)
        where = Position(x=node.position.x + by.x, y=node.position.y + by.y)
        nodes.append(made.model_copy(update={"id": ids[node.id], "position": where}))
    edges = [
        edge.model_copy(
            update={"source": ids.get(edge.source, edge.source), "target": ids.get(edge.target, edge.target)}
        )
        for edge in other.edges
    ]
    known = {field.id for field in base.form}
    fields = [
        field.model_copy(update={"id": form_ids[field.id]}) for field in other.form if form_ids[field.id] not in known
    ]
    flow = base.model_copy(
        update={"nodes": (*base.nodes, *nodes), "edges": (*base.edges, *edges), "form": (*base.form, *fields)}
    )
    return Merged(flow, ids, form_ids)


def _free_ids(wanted: list[str], taken: set[str]) -> dict[str, str]:
    """Every wanted id to a free one, itself where it can be."""
    used = taken | set(wanted)
    found: dict[str, str] = {}
    for one in wanted:
        found[one] = one if one not in taken else free_name(one, used)
        used.add(found[one])
    return found


def _form_ids(base: tuple[FormField, ...], other: tuple[FormField, ...]) -> dict[str, str]:
    """Field id of the other form to its id in the merged one. Fields that ask for the same kind of answer are one."""
    there = {field.id: field for field in base}
    used = set(there) | {field.id for field in other}
    found: dict[str, str] = {}
    for field in other:
        same = there.get(field.id)
        shared = same is None or (same.type == field.type and same.options == field.options)
        found[field.id] = field.id if shared else free_name(field.id, used)
        used.add(found[field.id])
    return found


def _with_form_ids(node: Node, form_ids: Mapping[str, str]) -> Node:
    """The node with the form fields it names in a param renamed."""
    name = FORM_READERS.get(node.type)
    if name is None or name not in node.params:
        return node
    value = node.params[name]
    renamed: JsonValue = value
    if isinstance(value, str):
        renamed = form_ids.get(value, value)
    elif isinstance(value, list):
        renamed = [form_ids.get(one, one) if isinstance(one, str) else one for one in value]
    return node.model_copy(update={"params": {**node.params, name: renamed}})


def _right_of(base: Flow, other: Flow, catalog: Catalog | None) -> Position:
    """How far the other flow moves to stand right of everything, level with the top."""
    around, own = bounds(base, catalog), bounds(other, catalog)
    if around is None or own is None:
        return Position()
    return Position(x=around.right + COLUMN_GAP - own.x, y=around.y - own.y)
