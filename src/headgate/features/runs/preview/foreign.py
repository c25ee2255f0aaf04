"""Recognises files of other products by their shape."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DIFY = tuple(re.compile(rf"^{key}[ \t]*:", re.MULTILINE) for key in ("app", "kind", "version"))


@dataclass(frozen=True, slots=True)
class Product:
    """Another product's file."""

    key: str
    name: str
    nodes: int


def name_of_format(found: Mapping[str, Any]) -> Product | None:
    """Whose file this JSON object is; None where nobody's that we know."""
    data = found.get("data")
    if isinstance(data, dict) and (nodes := _nodes(data)):
        return Product("langflow", "Langflow", len(nodes))
    nodes = _nodes(found)
    if not nodes:
        return None
    if isinstance(found.get("connections"), dict) and any("typeVersion" in node for node in nodes):
        return Product("n8n", "n8n", len(nodes))
    inner = [node["data"] for node in nodes if isinstance(node.get("data"), dict)]
    if any("inputAnchors" in one or "outputAnchors" in one or "inputParams" in one for one in inner):
        return Product("flowise", "Flowise", len(nodes))
    if any("node" in one and isinstance(one["node"], dict) for one in inner):
        return Product("langflow", "Langflow", len(nodes))
    return None


def is_dify(text: str) -> bool:
    """Whether this is an app of Dify, which are kept as YAML; not a line of it is read as YAML."""
    return all(key.search(text) for key in _DIFY)


def _nodes(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    nodes = found.get("nodes")
    return [one for one in nodes if isinstance(one, dict)] if isinstance(nodes, list) else []
