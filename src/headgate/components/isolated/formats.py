"""Functions on files and feeds of unknown origin, each executed in a separate process; see `functions`."""

import base64
from dataclasses import asdict
from datetime import datetime
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated, packed
from headgate.components.readers.archive import extract, list_archive
from headgate.components.readers.calendar import read_calendar
from headgate.components.readers.charting import ChartPlan, draw_chart
from headgate.components.readers.document import Unreadable
from headgate.components.readers.feed import read_feed, read_sitemap
from headgate.components.readers.image import convert_image
from headgate.components.readers.mail import parse_mail
from headgate.components.readers.selection import select_html, select_xml
from headgate.components.readers.spreadsheet import read_sheet
from headgate.components.readers.xml import data_of_xml
from headgate.sdk import Table


def _content(arguments: Arguments) -> bytes:
    return base64.b64decode(arguments["content"])


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


@isolated
def sheet(arguments: Arguments) -> JsonValue:
    """Read one sheet: `{"content" (base64), "name", "sheet", "header_row"}`. Returns a `Sheet`."""
    options = {key: arguments[key] for key in ("name", "sheet", "header_row")}
    read = read_sheet(_content(arguments), **options)
    return {"names": list(read.names), "name": read.name, "table": packed(read.table)}


@isolated
def feed(arguments: Arguments) -> JsonValue:
    """Read a feed: `{"content" (base64), "url", "most"}`. Returns a `Feed`."""
    return asdict(read_feed(_content(arguments), url=arguments["url"], most=arguments["most"]))


@isolated
def sitemap(arguments: Arguments) -> JsonValue:
    """Read a sitemap: `{"content" (base64), "url"}`. Returns a `Sitemap`."""
    return asdict(read_sitemap(_content(arguments), url=arguments["url"]))


@isolated
def html_elements(arguments: Arguments) -> JsonValue:
    """Select elements of HTML: `{"html", "selector", "value", "columns"}`. Returns a table."""
    options = {key: arguments[key] for key in ("value", "columns")}
    return packed(select_html(arguments["html"], arguments["selector"], **options))


@isolated
def xml_data(arguments: Arguments) -> JsonValue:
    """Read an XML document: `{"content" (base64)}`. Returns its data."""
    return data_of_xml(_content(arguments), name="The response")


@isolated
def xml_values(arguments: Arguments) -> JsonValue:
    """Evaluate XPath: `{"content" (base64), "expression", "namespaces"}`. Returns a list of values."""
    return select_xml(_content(arguments), arguments["expression"], arguments["namespaces"])


@isolated
def archive_entries(arguments: Arguments) -> JsonValue:
    """List an archive: `{"content" (base64), "name"}`. Returns a list of entries."""
    return [asdict(entry) for entry in list_archive(_content(arguments), name=arguments["name"])]


@isolated
def archive_members(arguments: Arguments) -> JsonValue:
    """Extract files: `{"content" (base64), "name", "paths"}`. Returns path to content (base64)."""
    members = extract(_content(arguments), set(arguments["paths"]), name=arguments["name"])
    return {path: _encoded(content) for path, content in members.items()}


@isolated
def calendar_events(arguments: Arguments) -> JsonValue:
    """Read a calendar: `{"text", "begin", "end", "zone"}`, times in ISO 8601. Returns a table."""
    begin, end = (datetime.fromisoformat(arguments[key]) for key in ("begin", "end"))
    return packed(read_calendar(arguments["text"], begin=begin, end=end, zone=ZoneInfo(arguments["zone"])))


@isolated
def image(arguments: Arguments) -> JsonValue:
    """Convert an image: `{"content" (base64)}` and the options of `convert_image`. Returns a `Converted`."""
    options = {key: arguments[key] for key in ("name", "width", "height", "mode", "target", "quality")}
    converted = convert_image(_content(arguments), **options)
    return asdict(converted) | {"content": _encoded(converted.content), "original": list(converted.original)}


@isolated
def mails(arguments: Arguments) -> JsonValue:
    """Parse messages: `{"messages": [{"content" (base64), "complete", "name"}, ...]}`.

    Returns the parts of each as `parse_mail` does, or its `problem` and `remedy`.
    """
    return [_mail(message) for message in arguments["messages"]]


def _mail(message: Arguments) -> JsonValue:
    try:
        return parse_mail(_content(message), complete=message["complete"], name=message["name"])
    except Unreadable as error:
        return {"problem": error.detail, "remedy": error.remedy}


@isolated
def chart(arguments: Arguments) -> JsonValue:
    """Draw a chart: `{"table", "plan"}`. Returns the picture (base64)."""
    table = Table(columns=arguments["table"]["columns"], rows=arguments["table"]["rows"])
    plan = arguments["plan"]
    return _encoded(draw_chart(table, ChartPlan(**plan | {"values": tuple(plan["values"])})))
