"""A flow as a pattern keeps it: how it is built, without secrets, credentials and places on a canvas.

What a secret is, the toolkit decides by name and shape (`toolkit.shown`). Here more is omitted, since a
pattern is read in flows it was not made for: ids of credentials, fields that a place calls passwords, what an address
has besides its host and plain path.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.foundation.canonical import portable
from headgate.foundation.log import redact_text
from headgate.foundation.secret_values import REDACTED
from headgate.graph.check_headers import carries_credential

Recipe = dict[str, JsonValue]
LARGEST = 262_144
"""Bytes of a kept recipe; longer texts in it are cut until it fits."""
_CUTS = (8_000, 1_000, 100)
_DEEPEST = 24
_HIDDEN = frozenset({"credential", "credentialid", "flowisecredentialid", "headers", "cookies"})
_SECRET_TYPES = frozenset({"password", "credential"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS = re.compile(
    r"""([a-z][a-z0-9+.-]{0,20}://)(?:[^\s"'<>/?#]*@)?([^\s"'<>/?#]*)([^\s"'<>?#]*)([^\s"'<>]*)""", re.IGNORECASE
)
_REFERENCE = re.compile(r"\{\{[\w-]+\.data\.instance\}\}")
"""What an input of Flowise holds that an edge leads to: the edge says it too."""
_TOKEN = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w-]{12,}")


def recipe_of(domain: str, definition: Mapping[str, JsonValue]) -> Recipe:
    """The recipe of a flow; never raises for what a flow of another place holds."""
    content = _flowise(definition) if domain == "flowise" else _headgate(definition)
    recipe: Any = {}
    for longest in _CUTS:
        recipe = portable(_clean(content, longest))
        if len(orjson.dumps(recipe)) <= LARGEST:
            return dict(recipe)
    return {"nodes": [{"id": node["id"], "type": node["type"]} for node in _nodes(recipe)[:500]]}


def components_of(recipe: Mapping[str, JsonValue]) -> list[str]:
    """The types of a recipe's nodes, each once, in their order."""
    return list(dict.fromkeys(str(node["type"]) for node in _nodes(recipe)))


def plain(text: str) -> str:
    """Return a text without secrets that every database can store."""
    return _text(text, len(text))


def _headgate(definition: Mapping[str, JsonValue]) -> dict[str, Any]:
    nodes = [
        {name: node[name] for name in ("id", "type", "label", "params", "code", "policy") if node.get(name)}
        for node in _nodes(definition)
    ]
    rest = {name: definition[name] for name in ("description", "form", "settings") if definition.get(name)}
    return {"nodes": nodes, "edges": definition.get("edges") or [], **rest}


def _flowise(definition: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return the recipe of a Flowise flow: components, set inputs and connections. Anchors are regenerated."""
    data = definition.get("flowData", definition)
    content = _parsed(data) if isinstance(data, str) else data
    nodes = [dict(_flowise_node(node)) for node in _items(content, "nodes")]
    members = ("source", "sourceHandle", "target", "targetHandle")
    edges = [{name: str(edge.get(name, "")) for name in members} for edge in _items(content, "edges")]
    return {"nodes": [node for node in nodes if node["type"]], "edges": edges}


def _flowise_node(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    node_data = node.get("data")
    data: Mapping[str, Any] = node_data if isinstance(node_data, Mapping) else {}
    yield "id", str(node.get("id", ""))
    yield "type", str(data.get("name", ""))
    if data.get("label"):
        yield "label", str(data["label"])
    if data.get("version") is not None:
        yield "version", data["version"]
    secret = {str(param.get("name")) for param in _items(data, "inputParams") if param.get("type") in _SECRET_TYPES}
    inputs = data.get("inputs")
    if isinstance(inputs, Mapping):
        params = {
            name: value for name, value in inputs.items() if value not in ("", None, [], {}) and name not in secret
        }
        yield "params", {name: value for name, value in params.items() if not _REFERENCE.fullmatch(str(value))}
    if isinstance(data.get("outputs"), Mapping) and data["outputs"]:
        yield "outputs", data["outputs"]


def _clean(value: Any, longest: int, depth: int = _DEEPEST) -> Any:  # noqa: ANN401 - any JSON value
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        return {
            _text(str(name), 200): _clean(member, longest, depth - 1)
            for name, member in value.items()
            if not _hidden(name)
        }
    if isinstance(value, list | tuple):
        pairs = [item for item in value if not (isinstance(item, Mapping) and _names_a_secret(item))]
        return [_clean(item, longest, depth - 1) for item in pairs]
    if isinstance(value, str):
        return _text(value, longest)
    return value if isinstance(value, bool | int | float) else None


def _hidden(name: object) -> bool:
    word = str(name)[:200]
    return re.sub(r"[^a-z]", "", word.lower()) in _HIDDEN or carries_credential(_CAMEL.sub("_", word))


def _names_a_secret(pair: Mapping[str, Any]) -> bool:
    """Whether it is a row such as `{"key": "Authorization", "value": ...}`."""
    return "value" in pair and any(_hidden(pair.get(name, "")) for name in ("name", "key", "header"))


def _text(text: str, longest: int) -> str:
    clean = text[:longest].replace("\0", "").encode("utf-8", "replace").decode()
    return redact_text(_ADDRESS.sub(_address, clean) if "://" in clean else clean)


def _address(match: re.Match[str]) -> str:
    """An address by its host and path: what follows, and what looks like a token in the path, may open a door."""
    scheme, host, path, rest = match.groups()
    shown = path if "{{" in path else _TOKEN.sub(REDACTED, path)
    return f"{scheme}{host}{shown}{rest if '{{' in rest and not _TOKEN.search(rest) else ''}"


def _nodes(recipe: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(node) for node in _items(recipe, "nodes") if isinstance(node.get("type"), str) and node.get("id")]


def _items(value: Any, name: str) -> Iterable[Mapping[str, Any]]:  # noqa: ANN401 - any JSON value
    items = value.get(name) if isinstance(value, Mapping) else None
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list | tuple) else []


def _parsed(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
