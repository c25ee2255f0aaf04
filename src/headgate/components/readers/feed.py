"""Reads feeds (RSS 0.9 to 2.0, Atom, JSON Feed) and sitemaps."""

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from headgate.components.data.json_text import parse_json
from headgate.components.readers.charset import decoded
from headgate.components.readers.document import Unreadable
from headgate.components.readers.xml import MOST_BYTES, XML_NAMESPACE, parse_xml, text_content
from headgate.foundation.lazy import lazy_module
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import bs4
else:
    bs4 = lazy_module("bs4")

MOST_ITEMS = 2_000
MOST_URLS = 50_000
"""Maximum URLs of one sitemap (sitemaps.org)."""
_LONGEST = 20_000
_SUMMARIES = ("summary", "content_text", "content_html")
_CONTENT = "http://purl.org/rss/1.0/modules/content/"
_DUBLIN = "http://purl.org/dc/elements/1.1/"


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed and its newest entries, in the order of the feed."""

    title: str
    url: str
    """The page that the feed belongs to."""
    description: str
    items: list[dict[str, JsonValue]]
    """`{"title", "url", "published", "updated", "author", "summary", "categories", "id", "attachment"}`; the times are
    ISO 8601 in UTC, and null when unknown."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The URLs of a sitemap, or those of further sitemaps."""

    is_index: bool
    urls: list[dict[str, JsonValue]]
    """`{"url", "modified", "change_frequency", "priority"}`."""


def read_feed(content: bytes, *, url: str, most: int = MOST_ITEMS) -> Feed:
    """Return a feed. Raises `Unreadable` when it is neither RSS, Atom nor JSON Feed."""
    if content.lstrip()[:1] == b"{":
        return _json_feed(content, url, most)
    root = parse_xml(content, name=url, recover=True)
    kind = _local(root)
    if kind == "feed":
        return _atom(root, url, most)
    if kind in {"rss", "RDF"}:
        channel = _child(root, "channel")
        if channel is not None:
            return _rss(root if kind == "RDF" else channel, channel, url, most)
    raise Unreadable(
        f"'{url}' is not a feed: its root element is '{kind}'.", remedy="Give the address of RSS, Atom or JSON Feed."
    )


def read_sitemap(content: bytes, *, url: str) -> Sitemap:
    """Return a sitemap or sitemap index, also compressed with gzip or as plain text with one URL per line.

    Raises `Unreadable`.
    """
    content = _unzipped(content, url)
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = [line.strip() for line in decoded(content, name=url).splitlines()]
        return Sitemap(is_index=False, urls=[_location(line) for line in lines if _is_web(line)][:MOST_URLS])
    root = parse_xml(content, name=url, recover=True)
    kind = _local(root)
    if kind not in {"urlset", "sitemapindex"}:
        raise Unreadable(f"'{url}' is not a sitemap: its root element is '{kind}'.")
    entries = [entry for entry in root if _local(entry) in {"url", "sitemap"}][:MOST_URLS]
    urls = [
        _location(location, _text(entry, "lastmod"), _text(entry, "changefreq"), _number(_text(entry, "priority")))
        for entry in entries
        if _is_web(location := _text(entry, "loc"))
    ]
    return Sitemap(kind == "sitemapindex", urls)


def _unzipped(content: bytes, url: str) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            plain = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, ValueError) as error:
        raise Unreadable(f"'{url}' is damaged: {error}.") from error
    if len(plain) > MOST_BYTES:
        raise Unreadable(f"'{url}' unpacks to more than {MOST_BYTES // 1_000_000} MB.")
    return plain


def _location(url: str, modified: str = "", frequency: str = "", priority: float | None = None) -> dict[str, JsonValue]:
    return {"url": url, "modified": _moment(modified), "change_frequency": frequency or None, "priority": priority}


def _rss(parent: Any, channel: Any, url: str, most: int) -> Feed:  # noqa: ANN401 - lxml has no types
    items = [_rss_item(item, url) for item in _named(parent, "item", most)]
    return Feed(_text(channel, "title"), _link(channel, url), _text(channel, "description"), items)


def _rss_item(item: Any, base: str) -> dict[str, JsonValue]:  # noqa: ANN401
    guid = _text(item, "guid")
    enclosure = _child(item, "enclosure")
    link = _text(item, "link") or (guid if _is_web(guid) else "")
    encoded = item.find(f"{{{_CONTENT}}}encoded")
    return _item(
        title=_text(item, "title"),
        url=_absolute(base, link),
        published=_text(item, "pubDate") or _text(item, "date", _DUBLIN),
        updated="",
        author=_text(item, "creator", _DUBLIN) or _text(item, "author"),
        summary=_text(item, "description") or ("" if encoded is None else text_content(encoded)),
        categories=[text_content(category) for category in _named(item, "category", 50)],
        identifier=guid or link,
        attachment=_absolute(base, enclosure.get("url", "")) if enclosure is not None else "",
    )


def _atom(feed: Any, url: str, most: int) -> Feed:  # noqa: ANN401
    base = feed.get(f"{{{XML_NAMESPACE}}}base") or url
    items = [_atom_item(entry, base) for entry in _named(feed, "entry", most)]
    return Feed(_text(feed, "title"), _atom_link(feed, base, "alternate"), _text(feed, "subtitle"), items)


def _atom_item(entry: Any, base: str) -> dict[str, JsonValue]:  # noqa: ANN401
    author = _child(entry, "author")
    return _item(
        title=_text(entry, "title"),
        url=_atom_link(entry, base, "alternate"),
        published=_text(entry, "published"),
        updated=_text(entry, "updated"),
        author=_text(author, "name") if author is not None else "",
        summary=_text(entry, "summary") or _text(entry, "content"),
        categories=[category.get("label") or category.get("term", "") for category in _named(entry, "category", 50)],
        identifier=_text(entry, "id"),
        attachment=_atom_link(entry, base, "enclosure"),
    )


def _json_feed(content: bytes, url: str, most: int) -> Feed:
    feed = parse_json(decoded(content, name=url), subject=f"'{url}'")
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        raise Unreadable(f"'{url}' is not a JSON Feed: it has no list of items.")
    items: list[JsonValue] = list(feed["items"] or [])  # type: ignore[arg-type]
    entries = [_json_item(item, url) for item in items[:most] if isinstance(item, dict)]
    home = _absolute(url, _string(feed, "home_page_url"))
    return Feed(_string(feed, "title"), home, _string(feed, "description"), entries)


def _json_item(item: dict[str, JsonValue], base: str) -> dict[str, JsonValue]:
    authors, tags, files = (item.get(name) for name in ("authors", "tags", "attachments"))
    author = item.get("author") if not isinstance(authors, list) or not authors else authors[0]
    attachment = files[0] if isinstance(files, list) and files else None
    return _item(
        title=_string(item, "title"),
        url=_absolute(base, _string(item, "url")),
        published=_string(item, "date_published"),
        updated=_string(item, "date_modified"),
        author=_string(author, "name"),
        summary=next((text for name in _SUMMARIES if (text := _string(item, name))), ""),
        categories=[tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
        identifier=_string(item, "id"),
        attachment=_absolute(base, _string(attachment, "url")),
    )


def _item(
    *,
    title: str,
    url: str,
    published: str,
    updated: str,
    author: str,
    summary: str,
    categories: list[str],
    identifier: str,
    attachment: str,
) -> dict[str, JsonValue]:
    return {
        "title": _markup_text(title),
        "url": url,
        "published": _moment(published) or _moment(updated),
        "updated": _moment(updated),
        "author": author or None,
        "summary": _markup_text(summary),
        "categories": [clean_text(category) for category in categories if category],
        "id": identifier or url,
        "attachment": attachment or None,
    }


def _markup_text(text: str) -> str:
    """Return plain text: titles and summaries may contain HTML."""
    if "<" not in text and "&" not in text:
        return clean_text(text[:_LONGEST])
    plain = bs4.BeautifulSoup(text[: 10 * _LONGEST], "lxml").get_text(" ")
    return clean_text(" ".join(plain.split())[:_LONGEST])


def _moment(text: str) -> str | None:
    """Return an ISO 8601 time in UTC of an RFC 822 or ISO date; null when it is neither."""
    value = text.strip()
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value) if value[:1].isalpha() or "," in value else datetime.fromisoformat(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    try:
        return aware.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None


def _local(element: Any) -> str:  # noqa: ANN401
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def _named(parent: Any, name: str, most: int) -> Iterator[Any]:  # noqa: ANN401
    count = 0
    for element in parent:
        if _local(element) == name and count < most:
            count += 1
            yield element


def _child(parent: Any, name: str, namespace: str | None = None) -> Any:  # noqa: ANN401
    if namespace is not None:
        return parent.find(f"{{{namespace}}}{name}")
    own = str(parent.tag).rpartition("}")[0]
    children = [element for element in parent if _local(element) == name]
    return next((child for child in children if str(child.tag).rpartition("}")[0] == own), next(iter(children), None))


def _text(parent: Any, name: str, namespace: str | None = None) -> str:  # noqa: ANN401
    element = _child(parent, name, namespace)
    return "" if element is None else clean_text(text_content(element)[: 10 * _LONGEST])


def _link(channel: Any, base: str) -> str:  # noqa: ANN401
    return _absolute(base, _text(channel, "link"))


def _atom_link(parent: Any, base: str, relation: str) -> str:  # noqa: ANN401
    links = [link for link in _named(parent, "link", 50) if (link.get("rel") or "alternate") == relation]
    return _absolute(base, links[0].get("href", "")) if links else ""


def _absolute(base: str, url: str) -> str:
    """Return an absolute web URL; empty for anything else, such as `javascript:`."""
    try:
        absolute = urljoin(base, url.strip()) if url.strip() else ""
    except ValueError:
        return ""
    return clean_text(absolute) if _is_web(absolute) else ""


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and not any(char.isspace() for char in url)


def _string(value: JsonValue, name: str) -> str:
    member = value.get(name) if isinstance(value, dict) else None
    return clean_text(member) if isinstance(member, str) else ""


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
