"""Sample values for trying a component: one for each required field."""

from pydantic import JsonValue

from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, FieldTemplate, Template
from headgate.sdk import Message, Table
from headgate.sdk.crossing import pack

_TEXT = "sample text"
_DATA: JsonValue = {"sample": _TEXT}
_BY_KIND: dict[FieldKind, object] = {
    FieldKind.NUMBER: 1.0,
    FieldKind.INTEGER: 1,
    FieldKind.BOOLEAN: True,
    FieldKind.JSON: _DATA,
    FieldKind.TABLE: Table(columns=["sample"], rows=[[_TEXT], ["more"]]),
    FieldKind.MESSAGE: Message(text=_TEXT),
}
_NONE = frozenset({FieldKind.FILE, FieldKind.SECRET, FieldKind.MODEL, FieldKind.TOOLS})


def sample_values(template: Template) -> dict[str, JsonValue] | None:
    """Return a packed value for each required field; None when a field's kind has no sample: a file, a secret."""
    required = [field for field in template.fields if field.required]
    if any(field.kind in _NONE for field in required):
        return None
    return {field.name: pack(_sample(field)) for field in required}


def _sample(field: FieldTemplate) -> object:
    sample = _one(field)
    return [sample] if field.many else sample


def _one(field: FieldTemplate) -> object:
    if field.options:
        first = field.options[0]
        return [first] if field.kind is FieldKind.MULTISELECT else first
    if field.kind is FieldKind.JSON and field.schema_ is not None and field.schema_.get("type") == "array":
        return [_DATA]
    if field.kind is FieldKind.JSON and PortType.TEXT in field.types:
        return _TEXT
    return _BY_KIND.get(field.kind, _TEXT)
