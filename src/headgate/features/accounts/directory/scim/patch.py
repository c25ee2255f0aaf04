"""Applies PATCH operations to a document (RFC 7644, 3.5.2), including the variants of Entra ID and Okta.

The document has lower-case attribute names. Attributes that are not stored are changed in it as well and discarded with
it: an identity provider may send more than is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from headgate.features.accounts.directory.errors import ScimInvalid
from headgate.features.accounts.directory.scim import filters
from headgate.features.accounts.directory.scim.filters import (
    Among,
    Both,
    Comparison,
    Either,
    Filter,
    Not,
    Path,
    Present,
)

MOST_OPERATIONS = 1_000
Kind = Literal["add", "replace", "remove"]
_KINDS: Mapping[str, Kind] = {"add": "add", "replace": "replace", "remove": "remove"}
_MANY = frozenset(
    {"emails", "members", "groups", "phonenumbers", "addresses", "ims", "photos", "roles", "entitlements"}
)
"""Multi-valued attributes: a single added value joins the others."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation."""

    kind: Kind
    path: Path
    value: Any = None


def operations_of(body: Mapping[str, Any]) -> list[Operation]:
    """Return the operations of a request, each with a path: a value without one is split by its attributes.

    Raises `ScimInvalid`.
    """
    operations = body.get("operations")
    if not isinstance(operations, list) or not operations:
        raise ScimInvalid("invalidSyntax", "A PATCH needs a list of Operations.")
    if len(operations) > MOST_OPERATIONS:
        raise ScimInvalid("tooMany", f"A PATCH takes at most {MOST_OPERATIONS} operations.", remedy="Send several.")
    return [operation for item in operations for operation in _read(item)]


def apply(document: dict[str, Any], operations: list[Operation]) -> None:
    """Apply the operation to the document. Raises `ScimInvalid`."""
    for operation in operations:
        path = operation.path
        if path.among is not None:
            _change_among(document, operation, path.among)
        elif path.sub is None:
            _change(document, path.attribute, operation.kind, operation.value)
        else:
            _change_sub(document, operation, path.sub)


def holds(condition: Filter, value: Mapping[str, Any]) -> bool:
    """Return whether one value of an attribute matches a filter."""
    match condition:
        case Both(left, right):
            return holds(left, value) and holds(right, value)
        case Either(left, right):
            return holds(left, value) or holds(right, value)
        case Not(inner):
            return not holds(inner, value)
        case Present(attribute):
            return value.get(attribute) not in (None, "", [], {})
        case Comparison(attribute, operator, expected):
            return _compare(value.get(attribute), operator, expected)
        case Among():
            raise ScimInvalid("invalidPath", "A filter within brackets cannot contain brackets.")


def _read(item: Any) -> list[Operation]:  # noqa: ANN401 - JSON
    if not isinstance(item, dict) or not isinstance(item.get("op"), str) or item["op"].lower() not in _KINDS:
        raise ScimInvalid("invalidSyntax", "Each operation needs an 'op': add, replace or remove.")
    kind, path, value = _KINDS[item["op"].lower()], item.get("path"), item.get("value")
    if path is not None and not isinstance(path, str):
        raise ScimInvalid("invalidPath", "The path of an operation must be a string.")
    if path:
        if kind != "remove" and "value" not in item:
            raise ScimInvalid("invalidValue", f"The operation on '{path[:60]}' has no value.")
        return [Operation(kind, filters.parse_path(path), value)]
    if kind == "remove":
        raise ScimInvalid("noTarget", "A remove operation needs a path.")
    if not isinstance(value, dict):
        raise ScimInvalid("invalidValue", "An operation without a path needs an object as value.")
    return [Operation(kind, filters.parse_path(name), new_value) for name, new_value in value.items()]


def _change(target: dict[str, Any], name: str, kind: Kind, value: Any) -> None:  # noqa: ANN401 - JSON
    present = target.get(name)
    if kind == "remove":
        if isinstance(present, list) and isinstance(value, list):  # Entra lists the removed values in `value`
            target[name] = [item for item in present if item not in value]
        else:
            target.pop(name, None)
    elif kind == "add" and isinstance(present, list):
        _extend(present, value if isinstance(value, list) else [value])
    elif name in _MANY and value is not None and not isinstance(value, list):
        target[name] = [value]
    elif isinstance(present, dict) and isinstance(value, dict):
        target[name] = present | value
    else:
        target[name] = value


def _extend(present: list[Any], more: list[Any]) -> None:
    for value in more:
        if value in present:
            continue
        if isinstance(value, dict) and value.get("primary") in (True, "True", "true"):
            for other in present:
                if isinstance(other, dict):
                    other.pop("primary", None)
        present.append(value)


def _change_sub(document: dict[str, Any], operation: Operation, sub: str) -> None:
    name = operation.path.attribute
    present = document.get(name)
    if isinstance(present, list):
        objects = [item for item in present if isinstance(item, dict)]
    elif isinstance(present, dict):
        objects = [present]
    elif operation.kind == "remove":
        return
    else:
        made: dict[str, Any] = {}
        document[name] = [made] if name in _MANY else made
        objects = [made]
    for target in objects:
        _change(target, sub, operation.kind, operation.value)


def _change_among(document: dict[str, Any], operation: Operation, value_filter: Filter) -> None:
    """Change the matching values; a missing value that is set is created from the filter, as Entra expects."""
    name, sub, kind = operation.path.attribute, operation.path.sub, operation.kind
    present = document.get(name)
    values = present if isinstance(present, list) else []
    matching = [item for item in values if isinstance(item, dict) and holds(value_filter, item)]
    if kind == "remove" and sub is None:
        document[name] = [item for item in values if not any(item is target for target in matching)]
        return
    if not matching and kind != "remove":
        matching = [_made_from(value_filter)]
        document[name] = [*values, *matching]
    for target in matching:
        if sub is not None:
            _change(target, sub, kind, operation.value)
        elif isinstance(operation.value, dict):
            target.update(operation.value)
        else:
            raise ScimInvalid("invalidValue", f"'{name}' needs an object as value.")


def _made_from(value_filter: Filter) -> dict[str, Any]:
    match value_filter:
        case Comparison(attribute, "eq", value):
            return {attribute: value}
        case Both(left, right):
            return _made_from(left) | _made_from(right)
    raise ScimInvalid("noTarget", "No value matches the filter of the path.")


def _compare(present: Any, operator: str, expected: filters.Value) -> bool:  # noqa: ANN401 - JSON
    if isinstance(present, str) and isinstance(expected, str):
        return _OF_TEXTS[operator](present.lower(), expected.lower())
    if operator in {"eq", "ne"}:
        return (present == expected) is (operator == "eq")
    return False


_OF_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "eq": lambda present, expected: present == expected,
    "ne": lambda present, expected: present != expected,
    "co": lambda present, expected: expected in present,
    "sw": lambda present, expected: present.startswith(expected),
    "ew": lambda present, expected: present.endswith(expected),
    "gt": lambda present, expected: present > expected,
    "ge": lambda present, expected: present >= expected,
    "lt": lambda present, expected: present < expected,
    "le": lambda present, expected: present <= expected,
}
