"""Bodies of calls as JSON values: JSON, forms, XML and text. Everything in them is untrusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import orjson
from pydantic import JsonValue

from headgate.components.data.selecting import select
from headgate.features.triggers.errors import TriggerInvalid
from headgate.foundation.errors import Invalid
from headgate.foundation.lazy import lazy_module
from headgate.graph.json_values import plain_json
from headgate.sdk import ComponentError

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]
else:
    etree = lazy_module("lxml.etree")

MOST_FIELDS = 1_000
MOST_XML_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Body:
    """A parsed body."""

    value: JsonValue
    """An object or list; text for anything else; null for binary content."""
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a multipart form."""

    name: str
    media_type: str
    content: bytes


def parse_body(media_type: str, content: bytes) -> Body:
    """Return the value of a body. Raises `Invalid` for one that its media type does not describe."""
    kind = media_type.partition(";")[0].strip().lower()
    if not content:
        return Body("")
    if kind == "application/json" or kind.endswith("+json"):
        return Body(_plain(_json(content)))
    if kind == "application/x-www-form-urlencoded":
        return Body(_plain(_form(content)))
    if kind in {"application/xml", "text/xml"} or kind.endswith("+xml"):
        return Body(_plain(_xml(content)))
    try:
        return Body(_plain(content.decode()))
    except (UnicodeDecodeError, Invalid):
        return Body(None, binary=True)


def text_of(value: JsonValue) -> str:
    """Return a value as the text of a run: text as it is, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def selected(expression: str, value: JsonValue, *, name: str) -> JsonValue:
    """Return a part of a value by JMESPath. Raises `TriggerInvalid`. It blocks."""
    try:
        return select(expression, value, subject=f"The trigger {name}")
    except ComponentError as error:
        raise TriggerInvalid(str(error), remedy="Correct the expression of the trigger.") from error


def event_key(source: str, headers: Mapping[str, str], value: JsonValue, *, name: str) -> str | None:
    """Return the key of an event, from a header or the body; None where the call has none."""
    place, _, where = source.partition(":")
    value_of_key = headers.get(where.lower()) if place == "header" else selected(where, value, name=name)
    return None if value_of_key is None or value_of_key == "" else text_of(value_of_key)


def _json(content: bytes) -> JsonValue:
    try:
        value: JsonValue = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"The body is not valid JSON: {error}.", remedy="Send JSON, or another content type.") from error
    return value


def _form(content: bytes) -> dict[str, JsonValue]:
    try:
        fields = parse_qs(content.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise Invalid(f"The body is not a valid form: {error}.", remedy="Send fewer fields, in UTF-8.") from error
    return fields_of([(name, value) for name, values in fields.items() for value in values])


def fields_of(items: Sequence[tuple[str, str]]) -> dict[str, JsonValue]:
    """Return the fields of a form: a list for one that is repeated."""
    values: dict[str, list[JsonValue]] = {}
    for name, value in items:
        values.setdefault(name, []).append(value)
    return {name: several[0] if len(several) == 1 else several for name, several in values.items()}


def _xml(content: bytes) -> JsonValue:
    """Return XML as objects: attributes as `@name`, text, also behind children, as `#text`.

    No entity and no external document is read.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Invalid(f"The body is not valid XML: {error}.", remedy="Send XML, or another content type.") from error
    if root.getroottree().docinfo.doctype:
        raise Invalid("The XML has a document type, which is refused.", remedy="Send XML without DOCTYPE.")
    return {_name(root.tag): _element(root, MOST_XML_DEPTH)}


def _element(element: "etree._Element", depth: int) -> JsonValue:
    if depth == 0:
        raise Invalid(f"The XML is nested deeper than {MOST_XML_DEPTH} levels.", remedy="Send flatter XML.")
    value: dict[str, JsonValue] = {f"@{_name(name)}": text for name, text in element.attrib.items()}
    for child in element:
        if not isinstance(child.tag, str):  # a comment, an instruction or an entity
            continue
        name, inner = _name(child.tag), _element(child, depth - 1)
        before = value.get(name)
        if before is None:
            value[name] = inner
        elif isinstance(before, list):
            before.append(inner)
        else:
            value[name] = [before, inner]
    texts = [(element.text or "").strip(), *((child.tail or "").strip() for child in element)]
    text = " ".join(filter(None, texts))
    if not value:
        return text
    return value | {"#text": text} if text else value


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _plain(value: JsonValue) -> JsonValue:
    try:
        return plain_json(value)
    except ValueError as error:
        raise Invalid(f"The body cannot be stored: {error}.", remedy="Send plain JSON values.") from error
