"""Checks of node values: known fields and valid values."""

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from headgate.graph.check_graph import named
from headgate.graph.connection_reference import EXPECTED_CONNECTION, is_connection_name
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.json_values import parse_json
from headgate.graph.model import Node
from headgate.graph.names import clipped, did_you_mean, listed, nearest
from headgate.graph.secret_reference import EXAMPLE, MODEL_FALLBACK, MODEL_KEY, MOST_FALLBACKS, is_reference
from headgate.graph.template import FieldKind, FieldTemplate, Template

_BOOLEANS = frozenset({"true", "false", "yes", "no", "on", "off", "1", "0", "t", "f", "y", "n"})


def param_issues(node: Node, template: Template, params: Mapping[str, JsonValue] | None = None) -> Iterator[Issue]:
    """Yield unknown fields and invalid values, of all of a node's params or of the given ones."""
    for name, value in (node.params if params is None else params).items():
        field = template.field(name)
        issue = unknown_field(node, template, name) if field is None else value_issue(node, field, value)
        if issue is not None:
            yield issue


def unknown_field(node: Node, template: Template, name: str) -> Issue:
    """Return the issue of a param that the component has no field for."""
    names = [field.name for field in template.fields]
    hint = did_you_mean(name, names) or "."
    return Issue(
        IssueCode.UNKNOWN_FIELD,
        f"{named(node)} has no field '{name}'{hint} Fields: {listed(names)}.",
        f"Set '{suggestion}' instead." if (suggestion := nearest(name, names)) else f"Remove '{name}'.",
        node.id,
        name,
    )


def value_issue(node: Node, field: FieldTemplate, value: JsonValue) -> Issue | None:
    """Return why a field cannot have a value.

    Null and empty text are always valid; so is any text with `{{`, except in a secret field.
    """
    if value is None or value == "":
        return None
    if field.carries_secret and (issue := _secret_issue(node, field, value)) is not None:
        return issue
    if isinstance(value, str) and "{{" in value and field.interpolate:
        return None
    if field.options:
        return _option_issue(node, field, value)
    expected = _EXPECTED.get(field.kind)
    if expected is None or expected[0](value):
        return None
    return Issue(
        IssueCode.INVALID_VALUE,
        f"field '{field.name}' of {named(node)} takes {expected[1]}, not {_told(field, value)}.",
        f"Set '{field.name}' to {expected[1]}.",
        node.id,
        field.name,
    )


def _secret_issue(node: Node, field: FieldTemplate, value: JsonValue) -> Issue | None:
    """Return the issue of a secret that is not a reference. Text in a secret field would never be looked up."""
    if field.is_secret:
        invalid_name = "" if is_reference(value) else field.name
    elif not isinstance(value, dict):
        return None
    else:
        members = value if field.secret_values else [name for name in (MODEL_KEY,) if name in value]
        texts = (str, int, float) if field.secret_values else ()
        invalid_name = next(
            (name for name in members if not isinstance(value[name], texts) and not _names(value[name])), ""
        )
        fallback = None if field.secret_values else value.get(MODEL_FALLBACK)
        issues = (_secret_issue(node, field, model) for model in (fallback if isinstance(fallback, list) else ()))
        first = next((issue for issue in issues if issue is not None), None)
        if first is not None:
            return first
    if not invalid_name:
        return None
    return Issue(
        IssueCode.INVALID_VALUE,
        f"'{clipped(invalid_name, 60)}' in field '{field.name}' of {named(node)} is not a reference to a secret.",
        f"Store the value (`headgate variables set MY_TOKEN`) and write {EXAMPLE}.",
        node.id,
        field.name,
    )


def _names(value: JsonValue) -> bool:
    return value is None or is_reference(value)


def _option_issue(node: Node, field: FieldTemplate, value: JsonValue) -> Issue | None:
    selected = value if isinstance(value, list) else [value]
    wrong = next((choice for choice in selected if not isinstance(choice, str) or choice not in field.options), None)
    if wrong is None and (isinstance(value, str) or field.kind is FieldKind.MULTISELECT):
        return None
    hint = did_you_mean(wrong, field.options) if isinstance(wrong, str) else ""
    return Issue(
        IssueCode.INVALID_VALUE,
        f"field '{field.name}' of {named(node)} cannot be {_shown(value)}{hint or '.'} "
        f"Options: {listed(field.options, most=20)}.",
        "Choose one of the options.",
        node.id,
        field.name,
    )


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, (int, float))


def _is_integer(value: JsonValue) -> bool:
    return _is_number(value) and float(value).is_integer()  # type: ignore[arg-type]


def _is_boolean(value: JsonValue) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value.lower() in _BOOLEANS)


def _is_text(value: JsonValue) -> bool:
    return not isinstance(value, (dict, list))


def _is_json(value: JsonValue) -> bool:
    """Return whether text that begins like a list or an object is JSON; other values are allowed in a JSON field."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return True
    try:
        parse_json(value)
    except ValueError:
        return False
    return True


def _is_file(value: JsonValue) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("id", "name"))


def _is_model(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, str) and "/" in value
    fallback = value.get(MODEL_FALLBACK) or []
    if not isinstance(fallback, list) or len(fallback) > MOST_FALLBACKS:
        return False
    names = [f"{model.get('provider')}/{model.get('name')}" if isinstance(model, dict) else model for model in fallback]
    nested = any(isinstance(model, dict) and model.get(MODEL_FALLBACK) for model in fallback)
    return not nested and all(isinstance(name, str) and "/" in name for name in names) and len(set(names)) == len(names)


_EXPECTED: dict[FieldKind, tuple[Callable[[JsonValue], bool], str]] = {
    FieldKind.NUMBER: (_is_number, "a number"),
    FieldKind.INTEGER: (_is_integer, "a whole number"),
    FieldKind.BOOLEAN: (_is_boolean, "true or false"),
    FieldKind.CODE: (_is_text, "text"),
    FieldKind.JSON: (_is_json, 'JSON such as ["a", "b"] or {"a": 1}'),
    FieldKind.MULTISELECT: (_is_json, 'a list such as ["a", "b"]'),
    FieldKind.CONNECTION: (
        lambda value: isinstance(value, str) and is_connection_name(value.strip()),
        EXPECTED_CONNECTION,
    ),
    FieldKind.TABLE: (lambda value: isinstance(value, (dict, list)), "a table: a list of objects"),
    FieldKind.FILE: (
        lambda value: all(_is_file(item) for item in (value if isinstance(value, list) else [value])),
        "a value from an edge, or a file as an object with id and name",
    ),
    FieldKind.MODEL: (
        _is_model,
        f"a model as provider/name, with up to {MOST_FALLBACKS} different fallback models that have none themselves",
    ),
}
"""Accepted values by field kind. Text and message fields accept everything that the component itself converts."""


def _told(field: FieldTemplate, value: JsonValue) -> str:
    """Return the value for a message, without possible secrets."""
    return "the content of the note" if field.kind is FieldKind.SECRET or field.name == "headers" else _shown(value)


def _shown(value: JsonValue) -> str:
    if isinstance(value, str):
        return f"'{clipped(value, 40)}'"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else clipped(str(value), 40)
