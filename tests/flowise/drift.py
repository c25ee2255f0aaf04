"""What is different between two servers that were asked the same, in lines that name the request."""

from typing import Any

from tests.flowise.exchanges import Exchange, Seen

BY_NAME = {"nodes_list": "name", "components_credentials_list": "name", "marketplace_templates": "templateName"}
"""Lists of which a recording holds a part: their items are compared by what they are called."""


def differences(real: Seen, other: Seen, *, other_name: str) -> list[str]:
    """One line for each difference, of the requests that both were asked; at least one has to be."""
    asked = sorted(real.keys() & other.keys())
    if not asked:
        return [f"{other_name} was asked nothing that the real one was asked"]
    return [f"{name}: {line}" for name in asked for line in _between(name, real[name], other[name], other_name)]


def _between(name: str, real: Exchange, other: Exchange, other_name: str) -> list[str]:
    lines = []
    if real.status != other.status:
        lines.append(f"status {real.status}, {other_name} {other.status}")
    if real.media != other.media:
        lines.append(f"content is {real.media}, {other_name} {other.media}")
    if lines:
        return lines
    if name in BY_NAME:
        return _listed(BY_NAME[name], real.answer, other.answer, other_name)
    return _shapes("", real.answer, other.answer, other_name)


def _listed(key: str, real: Any, other: Any, other_name: str) -> list[str]:
    """Lists of named items: each that the other has must be there, and be alike."""
    known = {item[key]: item for item in real}
    lines = [] if other else [f"{other_name} has none"]
    for item in other:
        here = known.get(item[key])
        lines += _shapes(item[key], here, item, other_name) if here else [f"{item[key]} is in {other_name} alone"]
    return lines


def _shapes(path: str, real: Any, other: Any, other_name: str) -> list[str]:
    if isinstance(real, dict) and isinstance(other, dict):
        return _members(path, real, other, other_name)
    if isinstance(real, list) and isinstance(other, list):
        return _items(path, real, other, other_name)
    here, there = _kind(real), _kind(other)
    return [] if here == there else [f"{path or 'the answer'} is {here}, {other_name} {there}"]


def _members(path: str, real: dict[str, Any], other: dict[str, Any], other_name: str) -> list[str]:
    lines = [f"{_at(path, name)} is missing from {other_name}" for name in sorted(real.keys() - other.keys())]
    lines += [f"{_at(path, name)} is in {other_name} alone" for name in sorted(other.keys() - real.keys())]
    for name in sorted(real.keys() & other.keys()):
        lines += _shapes(_at(path, name), real[name], other[name], other_name)
    return lines


def _items(path: str, real: list[Any], other: list[Any], other_name: str) -> list[str]:
    """Lists: named items by name, others in order as far as both go; one may not be empty where the other is not."""
    if bool(real) != bool(other):
        return [f"{path or 'the answer'} has {len(real)} items, {other_name} {len(other)}"]
    lines = [_shapes(f"{path}[{n}]", *pair, other_name) for n, pair in enumerate(zip(real, other, strict=False))]
    return [line for found in lines for line in found]


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return {"str": "a string", "NoneType": "null", "dict": "an object", "list": "a list"}[type(value).__name__]
