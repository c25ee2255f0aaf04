"""Descriptions of patterns for a model, in the platform's own format."""

from collections.abc import Mapping

import orjson
from pydantic import JsonValue, ValidationError

from headgate.graph.model import Flow
from headgate.graph.spec_print import print_spec

LONGEST = 12_000
"""Characters of a description."""


def described(recipe: Mapping[str, JsonValue]) -> str:
    """Return the recipe as spec text for a Headgate flow, else as lines: nodes with their values, and edges."""
    try:
        text = print_spec(Flow.model_validate({"name": "Pattern", **recipe}))
    except ValidationError:
        text = "\n".join(_lines(recipe))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[cut: {len(text) - LONGEST} more characters]"


def _lines(recipe: Mapping[str, JsonValue]) -> list[str]:
    lines = ["nodes:"]
    for node in _dicts(recipe.get("nodes")):
        head = f"  {node.get('id')}: {node.get('type')}"
        lines.append(head if node.get("label") in (None, node.get("type")) else f"{head} ({node.get('label')})")
        for name in ("params", "outputs"):
            values = node.get(name)
            if isinstance(values, dict):
                lines += [f"    {key}: {orjson.dumps(value).decode()}" for key, value in values.items()]
    lines.append("edges:")
    for edge in _dicts(recipe.get("edges")):
        lines.append(f"  {edge.get('source')} -> {edge.get('target')} ({edge.get('targetHandle') or ''})")
    return lines


def _dicts(value: JsonValue | None) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
