"""PATCH operations on a document (RFC 7644, 3.5.2), also in the forms that Entra ID and Okta send.

The document has its attribute names in lower case. Attributes that are not stored here are changed in it all the same,
and dropped with it: an identity provider may send more than is used.
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
"""Attributes with several values: a single one that is added joins the others."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One change."""

    kind: Kind
    path: Path
    value: Any = None


def operations_of(body: Mapping[str, Any]) -> list[Operation]:
    """The operations of a request, each with a path: a value without one is split by its attributes.

    Raises `ScimInvalid`.
    """
    sent = body.get("operations")
    if not isinstance(sent, list) or not sent:
        raise ScimInvalid("invalidSyntax", "A PATCH needs a list of Operations.")
    if len(sent) > MOST_OPERATIONS:
        raise ScimInvalid("tooMany", f"A PATCH takes {MOST_OPERATIONS} operations at most.", remedy="Send several.")
    return [operation for one in sent for operation in _read(one)]


def apply(document: dict[str, Any], operations: list[Operation]) -> None:
    """Change the document. Raises `ScimInvalid`."""
    for operation in operations:
        path = operation.path
        if path.among is not None:
            _change_among(document, operation, path.among)
        elif path.sub is None:
            _change(document, path.attribute, operation.kind, operation.value)
        else:
            _change_sub(document, operation, path.sub)


def holds(condition: Filter, value: Mapping[str, Any]) -> bool:
    """Whether one value of an attribute fits a filter."""
    match condition:
        case Both(left, right):
            return holds(left, value) and holds(right, value)
        case Either(left, right):
            return holds(left, value) or holds(right, value)
        case Not(inner):
            return not holds(inner, value)
        case Present(attribute):
            return value.get(attribute) not in (None, "", [], {})
        case Comparison(attribute, operator, wanted):
            return _compare(value.get(attribute), operator, wanted)
        case Among():
            raise ScimInvalid("invalidPath", "A filter within brackets has no brackets of its own.")


def _read(sent: Any) -> list[Operation]:  # noqa: ANN401 - JSON
    if not isinstance(sent, dict) or not isinstance(sent.get("op"), str) or sent["op"].lower() not in _KINDS:
        raise ScimInvalid("invalidSyntax", "Each operation needs an 'op': add, replace or remove.")
    kind, path, value = _KINDS[sent["op"].lower()], sent.get("path"), sent.get("value")
    if path is not None and not isinstance(path, str):
        raise ScimInvalid("invalidPath", "The path of an operation is a text.")
    if path:
        if kind != "remove" and "value" not in sent:
            raise ScimInvalid("invalidValue", f"The operation on '{path[:60]}' has no value.")
        return [Operation(kind, filters.parse_path(path), value)]
    if kind == "remove":
        raise ScimInvalid("noTarget", "A remove operation needs a path.")
    if not isinstance(value, dict):
        raise ScimInvalid("invalidValue", "An operation without a path needs an object as value.")
    return [Operation(kind, filters.parse_path(name), one) for name, one in value.items()]


def _change(place: dict[str, Any], name: str, kind: Kind, value: Any) -> None:  # noqa: ANN401 - JSON
    present = place.get(name)
    if kind == "remove":
        if isinstance(present, list) and isinstance(value, list):  # Entra names what it removes in the value
            place[name] = [one for one in present if one not in value]
        else:
            place.pop(name, None)
    elif kind == "add" and isinstance(present, list):
        _extend(present, value if isinstance(value, list) else [value])
    elif name in _MANY and value is not None and not isinstance(value, list):
        place[name] = [value]
    elif isinstance(present, dict) and isinstance(value, dict):
        place[name] = present | value
    else:
        place[name] = value


def _extend(present: list[Any], more: list[Any]) -> None:
    for value in more:
        if value in present:
            continue
        if isinstance(value, dict) and value.get("primary") in (True, "True", "true"):
            for one in present:
                if isinstance(one, dict):
                    one.pop("primary", None)
        present.append(value)


def _change_sub(document: dict[str, Any], operation: Operation, sub: str) -> None:
    name = operation.path.attribute
    present = document.get(name)
    if isinstance(present, list):
        places = [one for one in present if isinstance(one, dict)]
    elif isinstance(present, dict):
        places = [present]
    elif operation.kind == "remove":
        return
    else:
        made: dict[str, Any] = {}
        document[name] = [made] if name in _MANY else made
        places = [made]
    for place in places:
        _change(place, sub, operation.kind, operation.value)


def _change_among(document: dict[str, Any], operation: Operation, among: Filter) -> None:
    """Change the values that fit; one that is set and not there is made from the filter, as Entra expects it."""
    name, sub, kind = operation.path.attribute, operation.path.sub, operation.kind
    present = document.get(name)
    values = present if isinstance(present, list) else []
    places = [one for one in values if isinstance(one, dict) and holds(among, one)]
    if kind == "remove" and sub is None:
        document[name] = [one for one in values if not any(one is place for place in places)]
        return
    if not places and kind != "remove":
        places = [_made_from(among)]
        document[name] = [*values, *places]
    for place in places:
        if sub is not None:
            _change(place, sub, kind, operation.value)
        elif isinstance(operation.value, dict):
            place.update(operation.value)
        else:
            raise ScimInvalid("invalidValue", f"'{name}' needs an object as value.")


def _made_from(among: Filter) -> dict[str, Any]:
    match among:
        case Comparison(attribute, "eq", value):
            return {attribute: value}
        case Both(left, right):
            return _made_from(left) | _made_from(right)
    raise ScimInvalid("noTarget", "No value fits the filter of the path.")


def _compare(present: Any, operator: str, wanted: filters.Value) -> bool:  # noqa: ANN401 - JSON
    if isinstance(present, str) and isinstance(wanted, str):
        return _OF_TEXTS[operator](present.lower(), wanted.lower())
    if operator in {"eq", "ne"}:
        return (present == wanted) is (operator == "eq")
    return False


_OF_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "eq": lambda present, wanted: present == wanted,
    "ne": lambda present, wanted: present != wanted,
    "co": lambda present, wanted: wanted in present,
    "sw": lambda present, wanted: present.startswith(wanted),
    "ew": lambda present, wanted: present.endswith(wanted),
    "gt": lambda present, wanted: present > wanted,
    "ge": lambda present, wanted: present >= wanted,
    "lt": lambda present, wanted: present < wanted,
    "le": lambda present, wanted: present <= wanted,
}
