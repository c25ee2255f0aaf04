"""Normalises model values that agents write in other forms (seed 000 ADR-MCP-042).

A model is stored as `provider/name`, or as `{"provider", "name", "params"}` with params. Agents also write a list
with one item, an object with the provider's label, JSON or YAML text of either, such text in `name`, or a bare name.
"""

from collections.abc import Mapping
from typing import Any

import orjson
import yaml
from pydantic import JsonValue, ValidationError

from headgate.features.models.catalogue import list_models
from headgate.features.models.providers import PROVIDERS
from headgate.graph.model import Flow, Node
from headgate.graph.secret_reference import MODEL_FALLBACK, MODEL_KEY
from headgate.graph.template import Catalog, FieldKind, Template
from headgate.sdk.values import Model

_LONGEST_TEXT = 10_000
_DEEPEST = 4
"""Maximum nesting of text inside text."""


def coerce_params(params: Mapping[str, JsonValue], template: Template | None) -> dict[str, JsonValue]:
    """Return the params with normalised model fields."""
    if template is None:
        return dict(params)
    models = {field.name for field in template.fields if field.kind is FieldKind.MODEL}
    return {name: coerce_model(value) if name in models else value for name, value in params.items()}


def coerce_flow(flow: Flow, catalog: Catalog) -> Flow:
    """Return the flow with normalised model values."""
    nodes = tuple(_normalised(node, catalog) for node in flow.nodes)
    return flow if nodes == flow.nodes else flow.model_copy(update={"nodes": nodes})


def coerce_model(value: JsonValue) -> JsonValue:
    """Return a normalised model; a value that names none is returned unchanged, for the validation to reject."""
    model = _read(value, _DEEPEST)
    if model is None:
        return value
    key = value.get(MODEL_KEY) if isinstance(value, dict) else None
    fallback = value.get(MODEL_FALLBACK) if isinstance(value, dict) else None
    listed = [
        coerce_model(following)
        for following in (fallback if isinstance(fallback, list) else [fallback] if fallback else [])
    ]
    if not model.params and key is None and not listed:
        return str(model)
    own: dict[str, JsonValue] = {} if key is None else {MODEL_KEY: key}
    return {**model.model_dump(mode="json"), **own, **({MODEL_FALLBACK: listed} if listed else {})}


def _normalised(node: Node, catalog: Catalog) -> Node:
    params = coerce_params(node.params, catalog.template(node.type, node.params))
    return node if params == node.params else node.model_copy(update={"params": params})


def _read(value: object, depth: int) -> Model | None:
    if isinstance(value, list):
        return _read(value[0], depth) if len(value) == 1 else None
    if isinstance(value, dict):
        return _from_members(value, depth)
    if not isinstance(value, str) or depth == 0 or "{{" in value:
        return None
    structured = _structured(value)
    return _read(structured, depth - 1) if structured is not None else _from_text(value.strip())


def _from_members(members: dict[str, Any], depth: int) -> Model | None:
    """Return a model from an object, or from its name if that is a complete specification."""
    name, provider = members.get("name") or members.get("model_name") or members.get("model"), members.get("provider")
    if not isinstance(name, str) or depth == 0:
        return None
    inner = _structured(name)
    if inner is not None:
        return _read(inner, depth - 1)
    id_ = _provider_id(provider)
    model = Model(provider=id_, name=name.removeprefix(f"{id_}/")) if id_ else _from_text(name)
    params = members.get("params")
    if model is None or not isinstance(params, dict) or not params:
        return model
    try:
        return Model(provider=model.provider, name=model.name, params=params)
    except ValidationError:
        return None


def _from_text(text: str) -> Model | None:
    """Return `provider/name` for any spelling of the provider, or for a model name that only one provider has."""
    provider, slash, name = text.partition("/")
    id_ = _provider_id(provider) if slash else None
    if id_ and name:
        return Model(provider=id_, name=name)
    having = {info.provider: info.name for info in list_models() if info.name.lower() == text.lower()}
    return Model(provider=next(iter(having)), name=next(iter(having.values()))) if len(having) == 1 else None


def _provider_id(spelling: object) -> str | None:
    """Return the provider by id or label, ignoring case and spacing; None when there is none, or `Unknown`."""
    if not isinstance(spelling, str):
        return None
    return _SPELLINGS.get(_plain(spelling))


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


_SPELLINGS = {_plain(spelling): id_ for id_, provider in PROVIDERS.items() for spelling in (id_, provider.label)} | {
    "googlegenerativeai": "google",
    "ibmwatsonx": "watsonx",
}


def _structured(text: str) -> object | None:
    """Return the content of JSON or YAML text that looks like a list or an object; None for anything else."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_TEXT:
        return None
    if not stripped.startswith(("{", "[", "- ")) and not (": " in stripped and "\n" in stripped):
        return None
    try:
        content = orjson.loads(stripped)
    except orjson.JSONDecodeError:
        content = _from_yaml(stripped)
    return content if isinstance(content, (dict, list)) else None


def _from_yaml(text: str) -> object | None:
    """Return the content of YAML text. Rejects anchors: a few lines of them can expand to millions of values."""
    if "&" in text:
        return None
    try:
        content: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return content
