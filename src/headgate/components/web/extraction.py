"""Components that extract values from HTML and XML."""

import base64
from typing import cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.isolated import HTML_ELEMENTS, XML_VALUES
from headgate.components.isolated.calls import QUERY_SECONDS, call_isolated
from headgate.graph.template import FieldKind
from headgate.sdk import Component, Data, Table, Text, field, output
from headgate.sdk.coerce import data_of, text_of

_LONGEST = 2_000


class ExtractHTML(Component):
    """Extracts parts of HTML with CSS selectors: texts, attributes or rows of a table."""

    label = "Extract HTML"
    category = "web"
    icon = "code-xml"
    keywords = (
        "css", "selector", "scrape", "scraper", "parse", "dom", "elements", "beautifulsoup", "attribute", "web page",
        "links", "prices", "table", "extract",
    )  # fmt: skip

    html: str = field(label="HTML", help="The page, such as the text of an HTTP request.", main=True)
    selector: str = field(
        label="Selector",
        help="CSS selector of the elements, such as article.product.",
        port=False,
        tool_mode=True,
        max_length=_LONGEST,
    )
    columns: dict[str, str] = field(
        default_factory=dict,
        label="Columns",
        help="Column name to a selector inside each element; @ takes an attribute: h2 a, a@href, @id. "
        "Empty: one column, value.",
        port=False,
    )
    attribute: str = field(
        default="text",
        label="Value",
        help="Without columns: text, html, or the name of an attribute.",
        port=False,
        max_length=100,
    )
    _table: Table | None = PrivateAttr(default=None)

    @output(help="One row per element.")
    async def table(self) -> Table:
        """Return one row per matching element; selected once."""
        if self._table is None:
            arguments: dict[str, JsonValue] = {
                "html": self.html,
                "selector": self.selector,
                "value": self.attribute.strip(),
                "columns": cast("JsonValue", self.columns),
            }
            result = await call_isolated(
                self.ctx, HTML_ELEMENTS, arguments, "ExtractHTML: the selector", 2 * QUERY_SECONDS
            )
            self._table = Table.model_validate(result)
        return self._table

    @output(help="A list with one value per element, or with columns one object.")
    async def data(self) -> Data:
        """Return the values."""
        table = await self.table()
        return data_of(table) if self.columns else [row[0] for row in table.rows]

    @output(help="The values, one line each.")
    async def text(self) -> Text:
        """Return the values as lines; the columns of a row are separated by tabs."""
        rows = (await self.table()).rows
        return "\n".join("\t".join("" if value is None else str(value) for value in row) for row in rows)


class ExtractXML(Component):
    """Extracts values from XML with an XPath expression. Entities are not expanded."""

    label = "Extract XML"
    category = "data"
    icon = "code-xml"
    keywords = ("xpath", "xml", "parse", "namespace", "soap", "elements", "attribute", "nodes", "extract", "svg")

    xml: str = field(label="XML", help="The document.", main=True)
    expression: str = field(
        label="XPath",
        help="XPath 1.0, such as //item/title/text() or count(//item).",
        kind=FieldKind.TEXT,
        port=False,
        tool_mode=True,
        max_length=_LONGEST,
    )
    namespaces: dict[str, str] = field(
        default_factory=dict,
        label="Namespaces",
        help="Prefix to namespace URI, for the prefixes in the expression.",
        port=False,
    )
    _values: list[JsonValue] | None = PrivateAttr(default=None)

    @output(help="A list of values: texts, numbers, or elements as objects with tag, text and attributes.")
    async def data(self) -> Data:
        """Return the values; evaluated once."""
        if self._values is None:
            arguments: dict[str, JsonValue] = {
                "content": base64.b64encode(self.xml.encode()).decode(),
                "expression": self.expression,
                "namespaces": cast("JsonValue", self.namespaces),
            }
            result = await call_isolated(self.ctx, XML_VALUES, arguments, "ExtractXML: the expression", QUERY_SECONDS)
            self._values = cast("list[JsonValue]", result)
        return self._values

    @output(help="The values, one line each; the text of elements.")
    async def text(self) -> Text:
        """Return the values as lines."""
        values = cast("list[JsonValue]", await self.data())
        return "\n".join(
            text_of(value["text"] if isinstance(value, dict) and "text" in value else value) for value in values
        )
