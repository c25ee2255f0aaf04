"""Reading of documents and pages, each in a separate process. Arguments and results are JSON."""

import base64
from typing import cast

import bs4  # noqa: F401 - loaded before the process is locked down
import docx  # noqa: F401
import lxml.etree  # type: ignore[import-untyped]  # noqa: F401
import markdownify  # noqa: F401
import pypdf  # noqa: F401
from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated, packed
from headgate.components.readers.page import read_page
from headgate.components.readers.reading import read_document


@isolated
def document(arguments: Arguments) -> JsonValue:
    """Parse a document: `{"content" (base64), "name", "media_type", "delimiter", "wanted"}`.

    Returns the requested members of `Document`, and its notes.
    """
    content = base64.b64decode(arguments["content"])
    read = read_document(
        content, name=arguments["name"], media_type=arguments["media_type"], delimiter=arguments["delimiter"]
    )
    table = None if read.table is None else packed(read.table)
    members: dict[str, JsonValue] = {"text": read.text, "data": read.data, "table": table}
    return {name: members[name] for name in arguments["wanted"]} | {"notes": list(read.notes)}


@isolated
def page(arguments: Arguments) -> JsonValue:
    """Parse an HTTP response: `{"content" (base64), "url", "media_type", "charset", "main_only"}`. Returns a `Page`."""
    content = base64.b64decode(arguments["content"])
    read = read_page(
        content,
        url=arguments["url"],
        media_type=arguments["media_type"],
        charset=arguments["charset"],
        main_only=arguments["main_only"],
    )
    return {"markdown": read.markdown, "title": read.title, "links": cast("JsonValue", read.links)}
