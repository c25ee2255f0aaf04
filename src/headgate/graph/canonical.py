"""Canonical JSON of values, and checksums of flows."""

import hashlib
import json

from pydantic import JsonValue

from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog

COSMETIC_NODE_MEMBERS = frozenset({"label", "position"})
"""Members of a node that never change its behaviour."""
COSMETIC_SETTINGS = frozenset({"widget", "icon", "require_tests", "required_trials"})
"""Settings that never change a flow's behaviour: a passed flow stays passed when tests become required."""


def canonical_json(value: JsonValue) -> str:
    """The canonical JSON of a value: members sorted, no spaces, characters unescaped. Raises `ValueError` for NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_of(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def checksum(flow: Flow) -> str:
    """Return the content address of a flow: everything that was set counts, also cosmetics.

    Members with default values are omitted, so that a later Headgate with an additional member computes the same
    checksum.
    """
    return sha256_of(flow.model_dump(mode="json", exclude_defaults=True))


def logic_checksum(flow: Flow, catalog: Catalog | None = None) -> str:
    """Return the checksum of a flow's behaviour.

    Names, descriptions, labels, positions, the icon and the widget's appearance do not count, nor do notes when the
    catalog identifies them. The order of nodes and edges counts: aliases and lists of values depend on it.
    """
    settings = flow.settings.model_dump(mode="json", exclude=set(COSMETIC_SETTINGS), exclude_defaults=True)
    notes = {node.id for node in flow.nodes if _is_note(node, catalog)}
    logic: dict[str, JsonValue] = {
        "nodes": [node_logic(node) for node in flow.nodes if node.id not in notes],
        "edges": [edge.id for edge in flow.edges],
        "form": [
            field.model_dump(mode="json", exclude={"label", "private"}, exclude_defaults=True) for field in flow.form
        ],
        "settings": settings,
    }
    return sha256_of(logic)


def node_logic(node: Node) -> dict[str, JsonValue]:
    """Return a node without its cosmetics, as JSON.

    An allow-list counts as a set, and only where it is in force (seed 002, Resume Determinism).
    """
    members = node.model_dump(mode="json", exclude=set(COSMETIC_NODE_MEMBERS), exclude_defaults=True)
    if node.policy.tool_allowlist:
        del members["policy"]["tool_allowlist"]
        if node.policy.tool_policy == "restricted":
            members["policy"]["tool_allowlist"] = sorted(set(node.policy.tool_allowlist))
        elif not members["policy"]:
            del members["policy"]
    return members


def _is_note(node: Node, catalog: Catalog | None) -> bool:
    template = catalog.template(node.type, node.params) if catalog else None
    return template is not None and template.annotation
