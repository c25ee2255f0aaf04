"""Detects files of other products by their structure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DIFY = tuple(re.compile(rf"^{key}[ \t]*:", re.MULTILINE) for key in ("app", "kind", "version"))


@dataclass(frozen=True, slots=True)
class Product:
    """A file format of another product."""

    key: str
    name: str
    nodes: int


def name_of_format(document: Mapping[str, Any]) -> Product | None:
    """Return the product of this JSON object; None if unknown."""
    data = document.get("data")
    if isinstance(data, dict) and (nodes := _nodes(data)):
        return Product("langflow", "Langflow", len(nodes))
    nodes = _nodes(document)
    if not nodes:
        return None
    if isinstance(document.get("connections"), dict) and any("typeVersion" in node for node in nodes):
        return Product("n8n", "n8n", len(nodes))
    inner = [node["data"] for node in nodes if isinstance(node.get("data"), dict)]
    if any("inputAnchors" in node or "outputAnchors" in node or "inputParams" in node for node in inner):
        return Product("flowise", "Flowise", len(nodes))
    if any("node" in node and isinstance(node["node"], dict) for node in inner):
        return Product("langflow", "Langflow", len(nodes))
    return None


def is_dify(text: str) -> bool:
    """Whether this is a Dify app, which is stored as YAML. The check does not parse YAML."""
    return all(key.search(text) for key in _DIFY)


def _nodes(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    nodes = document.get("nodes")
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
