"""Converts HTML to Markdown."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from headgate.components.readers.document import Unreadable
from headgate.foundation.lazy import lazy_module
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import bs4
else:
    bs4 = lazy_module("bs4")

_NEVER_SHOWN = [
    "script",
    "style",
    "noscript",
    "template",
    "iframe",
    "object",
    "embed",
    "svg",
    "canvas",
    "head",
    "button",
    "input",
    "select",
]
_AROUND = ["nav", "header", "footer", "aside"]
MOST_LINKS = 2_000
MOST_MARKUP = 10_000_000
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_LONG_BLANK = re.compile(r"\s{200,}")
"""Whitespace that would keep markdownify's expressions busy for minutes."""


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed web page."""

    markdown: str
    title: str
    links: list[dict[str, str]]
    """`{"text", "url"}`, absolute when the page's URL is known, each URL once."""


def read_html(html: str, *, url: str = "", main_only: bool = True) -> Page:
    """Return the readable part of an HTML page as Markdown, its title and its links.

    Args:
        html: The page.
        url: Its URL, which makes links absolute.
        main_only: Skip navigation, header, footer and asides; use only `<main>` when there is one.
    """
    if len(html) > MOST_MARKUP:
        raise Unreadable(f"The page has {len(html)} characters of HTML; the limit is {MOST_MARKUP}.")
    declared = _DECLARATION.match(html)
    soup, convert = _libraries(html[declared.end() :] if declared else html)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for tag in soup(_NEVER_SHOWN):
        tag.decompose()
    body = soup.body or soup
    main = body.find("main") if main_only else None
    body = main if main is not None and main.get_text(strip=True) else body
    if main_only:
        for tag in body(_AROUND):
            if tag.name != "header" or tag.find_parent(["main", "article"]) is None:
                tag.decompose()
    links = _absolute_links(body, url)
    for string in body(string=_LONG_BLANK):
        string.replace_with(_LONG_BLANK.sub(" ", str(string)))
    for image in body("img"):
        _absolute(image, "src", url)
    try:
        markdown = convert(body)
    except RecursionError:  # the text of a page nested a thousand deep is still available
        markdown = body.get_text("\n", strip=True)
    return Page(_tidy(clean_text(markdown)), clean_text(" ".join(title.split())), links)


def _libraries(html: str) -> tuple[Any, Any]:
    """Return the parsed page, and the function that converts it to Markdown; imported when first used.

    Parsed with lxml: Python's own html.parser takes minutes for 100,000 unclosed tags.
    """
    from markdownify import MarkdownConverter  # noqa: PLC0415

    converter = MarkdownConverter(heading_style="atx", bullets="-", escape_asterisks=False, escape_underscores=False)
    return bs4.BeautifulSoup(html, "lxml"), converter.convert_soup


def _absolute_links(body: Any, url: str) -> list[dict[str, str]]:  # noqa: ANN401 - a lazily imported type
    links: dict[str, str] = {}
    for anchor in body("a"):
        address = _absolute(anchor, "href", url)
        if address.startswith(("http://", "https://", "mailto:")) and len(links) < MOST_LINKS:
            links.setdefault(address, clean_text(" ".join(anchor.get_text(" ", strip=True).split())))
    return [{"text": text, "url": address} for address, text in links.items()]


def _absolute(tag: Any, attribute: str, url: str) -> str:  # noqa: ANN401
    """Make a URL absolute in place; URLs that run code or contain data are removed."""
    address = str(tag.get(attribute) or "").strip()
    try:
        absolute = urljoin(url, address) if url and address else address
    except ValueError:
        absolute = ""
    if absolute.lower().replace("\t", "").replace("\n", "").startswith(("javascript:", "data:", "vbscript:")):
        absolute = ""
    if absolute:
        tag[attribute] = absolute
    else:
        del tag[attribute]
    return clean_text(absolute)


def _tidy(markdown: str) -> str:
    """Remove trailing blanks, and all but one of consecutive empty lines."""
    lines: list[str] = []
    for line in markdown.splitlines():
        stripped = line.rstrip()
        if stripped or (lines and lines[-1]):
            lines.append(stripped)
    return "\n".join(lines).strip()
