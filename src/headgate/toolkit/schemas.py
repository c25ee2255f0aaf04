"""Compact JSON Schemas of arguments and results, for models. Pure."""

from typing import Any

_EMPTY: tuple[Any, ...] = (None, "", [], {}, False)
_NAMED = frozenset({"properties", "$defs"})
_JSON_VALUE = "#/$defs/JsonValue"


def plain_answer(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a result without derived members: titles, docstrings, `JsonValue`."""
    small: dict[str, Any] = _plain(schema)
    if "description" in small and "properties" in small:
        del small["description"]
    definitions = {name: value for name, value in small.get("$defs", {}).items() if name != "JsonValue"}
    small.pop("$defs", None)
    return {"type": "object"} | small | ({"$defs": definitions} if definitions else {})


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of arguments: like `plain_answer`, without `null` next to a type: omitted means absent.

    What is removed does not say what to write, and would cost tokens.
    """
    small: dict[str, Any] = _without_null(plain_answer(schema))
    return small


def _plain(schema: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") == _JSON_VALUE:
        return {name: value for name, value in schema.items() if name == "description"}
    return {
        key: {name: _plain(member) for name, member in value.items()} if key in _NAMED else _plain(value)
        for key, value in schema.items()
        if not _is_derived(key, value)
    }


def _is_derived(key: str, value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a member is redundant or empty."""
    if key == "title":
        return isinstance(value, str)
    if key == "default":
        return value in _EMPTY
    if key == "additionalProperties":
        return value in (False, True) or (isinstance(value, dict) and value.get("$ref") == _JSON_VALUE)
    return False


def _without_null(schema: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    small = {name: _without_null(member) for name, member in schema.items()}
    choices = [choice for choice in small.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1 or len(choices) == len(small["anyOf"]):
        return small
    return choices[0] | {name: value for name, value in small.items() if name != "anyOf"}
