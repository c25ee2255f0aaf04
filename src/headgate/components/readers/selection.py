"""Selects parts of HTML with CSS selectors and of XML with XPath. Run it in a separate process: both can be slow."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from headgate.components.readers.markup import MOST_MARKUP
from headgate.components.readers.xml import etree, parse_xml, text_content
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Table
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import bs4
else:
    bs4 = lazy_module("bs4")

MOST_MATCHES = 10_000


def select_html(html: str, selector: str, *, value: str, columns: Mapping[str, str]) -> Table:
    """Return one row for each element that a CSS selector matches, in document order.

    Args:
        html: The page.
        selector: A CSS selector.
        value: What to return of an element in the column `value`, without columns: `text`, `html`, or an attribute.
        columns: Column name to a selector inside the element, with `@attribute` for an attribute: `a.title`, `a@href`,
            `@id`. The first match counts; null without one.

    Raises:
        ComponentError: A selector is not valid, or matches too many elements.
    """
    if len(html) > MOST_MARKUP:
        raise ComponentError(f"ExtractHTML: the HTML has {len(html)} characters; the limit is {MOST_MARKUP}.")
    elements = _selected(bs4.BeautifulSoup(html, "lxml"), selector, MOST_MATCHES + 1, "selector")
    if len(elements) > MOST_MATCHES:
        raise ComponentError(
            f"ExtractHTML: the selector matches more than {MOST_MATCHES} elements.",
            remedy="Use a more specific selector.",
            field="selector",
        )
    if not columns:
        return Table(columns=["value"], rows=[[_value(element, value)] for element in elements])
    rows = [[_part(element, rule) for rule in columns.values()] for element in elements]
    return Table(columns=list(columns), rows=rows)


def select_xml(content: bytes, expression: str, namespaces: Mapping[str, str]) -> list[JsonValue]:
    """Return the result of an XPath 1.0 expression: texts, numbers and booleans, or elements.

    An element is `{"tag", "text", "attributes"}`; the tag has no namespace.
    Raises `Unreadable` for the document and `ComponentError` for the expression.
    """
    root = parse_xml(content, name="the document", encoding="utf-8")
    try:
        result = root.xpath(expression, namespaces=dict(namespaces) or None, smart_strings=False)
    except (etree().XPathError, TypeError, ValueError) as error:
        raise ComponentError(
            f"ExtractXML: the expression {clipped(expression, 80)!r} is not valid: {clipped(str(error), 200)}.",
            remedy="Write XPath 1.0; declare the prefixes that it uses in the namespaces.",
            field="expression",
        ) from error
    values = result if isinstance(result, list) else [result]
    if len(values) > MOST_MATCHES:
        raise ComponentError(
            f"ExtractXML: the expression returns more than {MOST_MATCHES} values.",
            remedy="Use a more specific expression.",
            field="expression",
        )
    return [_xml_value(value) for value in values]


def _selected(root: Any, selector: str, most: int, field: str) -> list[Any]:  # noqa: ANN401 - a lazily imported type
    from soupsieve import SelectorSyntaxError  # noqa: PLC0415

    try:
        return list(root.select(selector, limit=most))
    except (SelectorSyntaxError, ValueError, NotImplementedError) as error:
        raise ComponentError(
            f"ExtractHTML: the selector {clipped(selector, 80)!r} is not valid: {str(error).splitlines()[0]}",
            remedy="Write a CSS selector such as article h2 > a.",
            field=field,
        ) from error


def _part(element: Any, rule: str) -> str | None:  # noqa: ANN401
    selector, _, attribute = rule.partition("@") if "@" in rule else (rule, "", "text")
    parts = _selected(element, selector.strip(), 1, "columns") if selector.strip() else [element]
    return _value(parts[0], attribute.strip()) if parts else None


def _value(element: Any, what: str) -> str | None:  # noqa: ANN401
    if what in {"", "text"}:
        return clean_text(" ".join(element.get_text(" ").split()))
    if what == "html":
        return clean_text(str(element))
    attribute = element.get(what)
    joined = " ".join(attribute) if isinstance(attribute, list) else attribute
    return None if joined is None else clean_text(str(joined))


def _xml_value(value: Any) -> JsonValue:  # noqa: ANN401
    if isinstance(value, bool | str):
        return clean_text(value) if isinstance(value, str) else value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    if isinstance(value, tuple):  # a namespace node: prefix and URI
        return clean_text(str(value[1]))
    attributes: dict[str, JsonValue] = {_local(name): clean_text(text) for name, text in value.attrib.items()}
    return {"tag": _local(value.tag), "text": clean_text(text_content(value)), "attributes": attributes}


def _local(name: str) -> str:
    return name.rpartition("}")[2]
