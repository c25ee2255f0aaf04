"""Converts filters to SQL conditions; attributes for filtering and sorting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, exists, func, literal, not_, or_

from headgate.features.accounts.directory.errors import ScimInvalid
from headgate.features.accounts.directory.scim.filters import (
    Among,
    Both,
    Comparison,
    Either,
    Filter,
    Not,
    Operator,
    Present,
    Value,
)
from headgate.features.accounts.directory.tables import DirectoryGroup, DirectoryGroupMember, DirectoryUser
from headgate.features.accounts.tables import User

Condition = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute with one value per resource."""

    kind: Literal["text", "exact", "boolean", "time"]
    """`exact`: case-sensitive."""
    column: Any
    """A column, or a constant for all resources."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The filterable attributes of a resource type."""

    single: Mapping[str, Attribute]
    several: "Mapping[str, Several]"


@dataclass(frozen=True, slots=True)
class Several:
    """A multi-valued attribute: a filter matches when it matches one of the values."""

    exists_where: Callable[[Condition], Condition]
    parts: Attributes


def _in_groups(condition: Condition) -> Condition:
    return exists().where(DirectoryGroupMember.user_id == DirectoryUser.user_id, condition)


def _has_members(condition: Condition) -> Condition:
    return exists().where(DirectoryGroupMember.group_id == DirectoryGroup.id, condition)


def _parts(column: Any) -> Attributes:  # noqa: ANN401 - a mapped column
    return Attributes({"value": Attribute("exact", column)}, {})


USER = Attributes(
    {
        "id": Attribute("exact", DirectoryUser.user_id),
        "externalid": Attribute("exact", DirectoryUser.external_id),
        "username": Attribute("text", DirectoryUser.user_name_key),
        "displayname": Attribute("text", User.name),
        "name.formatted": Attribute("text", DirectoryUser.formatted),
        "name.givenname": Attribute("text", DirectoryUser.given_name),
        "name.familyname": Attribute("text", DirectoryUser.family_name),
        "active": Attribute("boolean", User.active),
        "emails": Attribute("text", User.email),
        "emails.value": Attribute("text", User.email),
        "emails.type": Attribute("text", literal("work")),
        "emails.primary": Attribute("boolean", literal(value=True)),
        "meta.created": Attribute("time", DirectoryUser.created_at),
        "meta.lastmodified": Attribute("time", DirectoryUser.updated_at),
    },
    {"groups": Several(_in_groups, _parts(DirectoryGroupMember.group_id))},
)
GROUP = Attributes(
    {
        "id": Attribute("exact", DirectoryGroup.id),
        "externalid": Attribute("exact", DirectoryGroup.external_id),
        "displayname": Attribute("text", DirectoryGroup.name_key),
        "meta.created": Attribute("time", DirectoryGroup.created_at),
        "meta.lastmodified": Attribute("time", DirectoryGroup.updated_at),
    },
    {"members": Several(_has_members, _parts(DirectoryGroupMember.user_id))},
)


def condition_of(scim_filter: Filter, attributes: Attributes, within: str = "") -> Condition:
    """Return the condition of a filter. Raises `ScimInvalid` (`invalidFilter`)."""
    match scim_filter:
        case Both(left, right):
            return and_(condition_of(left, attributes, within), condition_of(right, attributes, within))
        case Either(left, right):
            return or_(condition_of(left, attributes, within), condition_of(right, attributes, within))
        case Not(inner):
            return not_(func.coalesce(condition_of(inner, attributes, within), literal(value=False)))
        case Among(attribute, inner):
            return _among(attribute, inner, attributes)
        case Present(attribute):
            return _of(attribute, within, attributes, lambda single: single.column.is_not(None))
        case Comparison(attribute, operator, value):
            return _of(attribute, within, attributes, lambda single: _compared(single, operator, value))


def sort_column(name: str, attributes: Attributes) -> Any:  # noqa: ANN401 - a mapped column
    """Return the sort column of a list. Raises `ScimInvalid`."""
    if name not in attributes.single:
        raise ScimInvalid("invalidPath", f"Sorting by '{name[:60]}' is not supported.", remedy=_choices(attributes))
    return attributes.single[name].column


def _among(name: str, inner: Filter, attributes: Attributes) -> Condition:
    if name in attributes.several:
        several = attributes.several[name]
        return several.exists_where(condition_of(inner, several.parts))
    return condition_of(inner, attributes, f"{name}.")  # of one value, such as the e-mail address


def _of(name: str, within: str, attributes: Attributes, build: Callable[[Attribute], Condition]) -> Condition:
    name = within + name
    if name in attributes.single:
        return build(attributes.single[name])
    group, _, part = name.partition(".")
    if group in attributes.several:
        several = attributes.several[group]
        return several.exists_where(_of(part or "value", "", several.parts, build))
    raise ScimInvalid("invalidFilter", f"Filtering by '{name[:60]}' is not supported.", remedy=_choices(attributes))


def _compared(attribute: Attribute, operator: Operator, value: Value) -> Condition:
    column: Any = attribute.column
    if value is None and operator in {"eq", "ne"}:
        return column.is_(None) if operator == "eq" else column.is_not(None)  # type: ignore[no-any-return]
    if operator == "ne":
        return not_(func.coalesce(_compared(attribute, "eq", value), literal(value=False)))
    if attribute.kind == "boolean":
        return _boolean(column, operator, value)
    if attribute.kind == "time":
        return _ordered(column, operator, _moment(value))
    if not isinstance(value, str):
        raise ScimInvalid("invalidFilter", f"The value {value!r} must be a string in quotes.")
    if "\x00" in value:
        raise ScimInvalid("invalidFilter", "A value must not contain a NUL character.")
    if attribute.kind == "exact":
        return _text(column, operator, value)
    # Databases fold the case of ASCII only, or of all letters: identical text always matches.
    return or_(_text(column, operator, value), _text(func.lower(column), operator, value.lower()))


def _boolean(column: Any, operator: Operator, value: Value) -> Condition:  # noqa: ANN401 - a column
    if isinstance(value, str) and value.lower() in {"true", "false"}:  # as sent by Entra ID
        value = value.lower() == "true"
    if operator != "eq" or not isinstance(value, bool):
        raise ScimInvalid("invalidFilter", f"A boolean is compared with eq or ne, and true or false, not {value!r}.")
    return column.is_(value)  # type: ignore[no-any-return]


def _moment(value: Value) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ScimInvalid(
            "invalidFilter", (f"{str(value)[:60]!r} is not a timestamp such as 2026-11-23T10:00:00Z.")
        ) from None


def _text(column: Any, operator: Operator, value: str) -> Condition:  # noqa: ANN401 - a column
    """Compare without LIKE, whose case sensitivity depends on the database."""
    match operator:
        case "co":
            return func.length(func.replace(column, value, "")) < func.length(column) if value else column.is_not(None)
        case "sw":
            return func.substr(column, 1, len(value)) == value
        case "ew":
            offset = func.length(column) - len(value) + 1
            return and_(func.length(column) >= len(value), func.substr(column, offset) == value)
    return _ordered(column, operator, value)


def _ordered(column: Any, operator: Operator, value: object) -> Condition:  # noqa: ANN401 - a column
    conditions: Mapping[str, Callable[[], Condition]] = {
        "eq": lambda: column == value,
        "gt": lambda: column > value,
        "ge": lambda: column >= value,
        "lt": lambda: column < value,
        "le": lambda: column <= value,
    }
    if operator not in conditions:
        raise ScimInvalid("invalidFilter", f"The operator '{operator}' compares strings only.")
    return conditions[operator]()


def _choices(attributes: Attributes) -> str:
    return f"Use one of: {', '.join([*attributes.single, *attributes.several])}."
