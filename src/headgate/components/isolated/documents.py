"""Reading of documents and pages, each in a separate process. Arguments and results are JSON."""

import base64
from dataclasses import asdict
from typing import cast

import bs4  # noqa: F401 - loaded before the process is locked down
import docx  # noqa: F401
import lxml.etree  # type: ignore[import-untyped]  # noqa: F401
import markdownify  # noqa: F401
import pypdf  # noqa: F401
from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated, packed
from headgate.components.readers.drawing import draw_page, find_marks
from headgate.components.readers.page import read_page
from headgate.components.readers.reading import read_document
from headgate.components.readers.recognition import draw_image, is_pdf, recognise

_RECOGNITION = ("name", "page", "languages", "folder")


@isolated
def document(arguments: Arguments) -> JsonValue:
    """Parse a document: `{"content" (base64), "name", "media_type", "delimiter", "wanted"}`.

    Returns the requested members of `Document`, its notes and unread pages, and with those the text of each page.
    """
    content = base64.b64decode(arguments["content"])
    read = read_document(
        content, name=arguments["name"], media_type=arguments["media_type"], delimiter=arguments["delimiter"]
    )
    table = None if read.table is None else packed(read.table)
    members: dict[str, JsonValue] = {"text": read.text, "data": read.data, "table": table}
    answer = {name: members[name] for name in arguments["wanted"]} | {"notes": list(read.notes)}
    return answer | ({"unread": list(read.unread), "pages": list(read.pages)} if read.unread else {})


@isolated
def recognised(arguments: Arguments) -> JsonValue:
    """Recognise the text of a page: the arguments of `recognise`, the content as base64. Returns a `Recognised`."""
    content = base64.b64decode(arguments["content"])
    read = recognise(content, **{name: arguments[name] for name in _RECOGNITION})
    return cast("JsonValue", asdict(read))


@isolated
def picture(arguments: Arguments) -> JsonValue:
    """Draw a page of a PDF or an image: `{"content" (base64), "name", "page"}`. Returns a WebP picture as base64."""
    content = base64.b64decode(arguments["content"])
    draw = draw_page if is_pdf(content) else draw_image
    return base64.b64encode(draw(content, name=arguments["name"], page=arguments["page"])).decode()


@isolated
def marks(arguments: Arguments) -> JsonValue:
    """Find parts of the text of a PDF: `{"content" (base64), "pages", "places"}`, as of `find_marks`.

    `pages` are pairs of number and text. Returns a `Marks` or null for each place.
    """
    content = base64.b64decode(arguments["content"])
    read = find_marks(
        content,
        pages=dict(arguments["pages"]),
        places=[(page, start, end) for page, start, end in arguments["places"]],
    )
    boxes = [[] if mark is None else [box._asdict() for box in mark.boxes] for mark in read]
    return [
        None if mark is None else {"width": mark.width, "height": mark.height, "boxes": cast("JsonValue", drawn)}
        for mark, drawn in zip(read, boxes, strict=True)
    ]


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
