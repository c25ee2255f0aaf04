"""Extracts the readable content of HTTP responses."""

from urllib.parse import urlsplit

from headgate.components.data.json_text import is_json_type
from headgate.components.readers.charset import declared_in_markup, decoded
from headgate.components.readers.document import Unreadable
from headgate.components.readers.markup import Page, read_html
from headgate.components.readers.reading import read_document


def read_page(content: bytes, *, url: str, media_type: str, charset: str, main_only: bool) -> Page:
    """Return the readable part of an HTTP response, by its media type.

    Args:
        content: The body.
        url: Its URL, used as its name and to make links absolute.
        media_type: Without parameters; empty when the server declares none.
        charset: The declared charset; empty for none.
        main_only: Skip navigation, header, footer and asides of a page.
    """
    name = urlsplit(url).path.rpartition("/")[2] or urlsplit(url).netloc
    is_markup = media_type in {"text/html", "application/xhtml+xml"}
    if is_markup or (not media_type and b"<html" in content[:2048].lower()):
        declared = charset or declared_in_markup(content)
        return read_html(decoded(content, name=name, declared=declared), url=url, main_only=main_only)
    if media_type.startswith("text/") or is_json_type(media_type):
        return Page(decoded(content, name=name, declared=charset), "", [])
    read = read_document(content, name=name, media_type=media_type)
    if read.unread and not any(read.pages):
        raise Unreadable(f"'{name}' is an image or a scan: no text to read.", remedy="Download it, and use ReadFile.")
    return Page(read.text, "", [])
