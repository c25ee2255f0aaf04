"""Sanitises the parsed text (pandoc's JSON) before it is written: no raw markup, no external URLs.

This handles everything that pandoc's writers would pass through or resolve: raw blocks of any format, attributes,
images, links to missing anchors. The result contains only text, structure and resolved images.
"""

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

MOST_DEPTH = 120
"""Maximum nesting; Typst and Word both fail somewhat above it."""
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,32}")
_INLINE_TAGS = frozenset(
    {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "small", "span", "strong", "sub", "sup", "u"}
)
_LINKS = ("http://", "https://", "mailto:", "tel:")
_ALERTS = frozenset({"note", "tip", "important", "warning", "caution"})
_WITH_ATTRIBUTES = frozenset({"Code", "CodeBlock", "Header", "Span", "Table", "Figure"})

Element = dict[str, Any]
ImageOf = Callable[[str], str]
"""Image reference to its location for the writer. Raises `Unusable` with the reason."""


class Unusable(Exception):
    """Why an image is replaced by its alternative text."""


class TooDeep(Exception):
    """The text is nested too deeply."""


class Cleaner:
    """Sanitises one document.

    Args:
        image_of: Location of an image for the writer.
        math_as_code: Set formulas as source text, when they could not be rendered.
    """

    def __init__(self, image_of: ImageOf, *, math_as_code: bool = False) -> None:
        self._image_of = image_of
        self._math_as_code = math_as_code
        self._ids: set[str] = set()
        self._left_out: Counter[str] = Counter()
        self._tags: dict[str, None] = {}
        self.heading = ""
        """Text of the first heading."""

    def clean(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document, sanitised and without metadata. Raises `TooDeep`."""
        blocks = document["blocks"]
        self._collect(blocks, 0)
        return {**document, "meta": {}, "blocks": self._list(blocks)}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return messages about omitted or replaced content."""
        notes = [f"{message}{f' ({count} times)' if count > 1 else ''}." for message, count in self._left_out.items()]
        if self._tags:
            notes.append(f"HTML tags were removed, their text was kept: {', '.join(list(self._tags)[:12])}.")
        return tuple(notes)

    def _collect(self, value: Any, depth: int) -> None:  # noqa: ANN401 - JSON
        """Check the nesting, and collect the anchors that links can refer to."""
        if depth > 3 * MOST_DEPTH:  # an element is two or three levels of JSON
            raise TooDeep
        if isinstance(value, dict):
            if value.get("t") == "Header":
                self._ids.add(value["c"][1][0])
                self.heading = self.heading or plain_text(value["c"][2])
            self._collect(value.get("c"), depth + 1)
        elif isinstance(value, list):
            for child in value:
                self._collect(child, depth + 1)

    def _list(self, values: list[Any]) -> list[Any]:
        cleaned: list[Any] = []
        for value in values:
            if isinstance(value, dict):
                cleaned += self._element(value)
            else:
                cleaned.append(self._list(value) if isinstance(value, list) else value)
        return cleaned

    def _element(self, element: Element) -> list[Element]:
        kind = element.get("t")
        content: Any = element.get("c")
        handler = {
            "RawInline": self._raw_inline,
            "RawBlock": self._raw_block,
            "Image": self._image,
            "Link": self._link,
            "Math": self._math,
            "Div": self._div,
        }.get(str(kind))
        if handler is not None:
            return handler(content)
        if kind in _WITH_ATTRIBUTES and isinstance(content, list):
            index = 1 if kind == "Header" else 0
            content = [*content]
            content[index] = _attributes(str(kind), content[index])
        return [{**element, "c": self._list(content)} if isinstance(content, list) else element]

    def _raw_inline(self, content: list[str]) -> list[Element]:
        text = content[1].strip()
        if re.fullmatch(r"<br\s*/?>", text, re.IGNORECASE):
            return [{"t": "LineBreak"}]
        self._note_tags(text)
        return []

    def _raw_block(self, content: list[str]) -> list[Element]:
        """Return the text of an HTML block, one paragraph per line."""
        self._note_tags(content[1])
        lines = [line.strip() for line in _words_of(content[1]).splitlines()]
        return [{"t": "Para", "c": [{"t": "Str", "c": line}]} for line in lines if line]

    def _note_tags(self, html: str) -> None:
        for name in re.findall(r"<([A-Za-z][A-Za-z0-9]*)", html):
            self._tags[name.lower()] = None

    def _image(self, content: list[Any]) -> list[Element]:
        _, words, (target, title) = content
        alternative = self._list(words)
        try:
            location = self._image_of(target)
        except Unusable as reason:
            short_target = target if len(target) <= 80 else target[:80] + "..."
            self._left_out[f"The image '{short_target}' was replaced by its text: {reason}"] += 1
            return [{"t": "Emph", "c": alternative or [{"t": "Str", "c": "[image]"}]}]
        return [{"t": "Image", "c": [["", [], []], alternative, [location, title]]}]

    def _link(self, content: list[Any]) -> list[Element]:
        _, text, (target, _) = content
        cleaned = self._list(text)
        is_anchor = target.startswith("#") and target[1:] in self._ids
        if is_anchor or target.lower().startswith(_LINKS):
            return [{"t": "Link", "c": [["", [], []], cleaned, [target, ""]]}]
        return cleaned

    def _div(self, content: list[Any]) -> list[Element]:
        """Return GitHub's alerts as quotes with a bold first line; other blocks as their content."""
        (_, classes, _), blocks = content
        cleaned = self._list(blocks)
        if "title" in classes:
            return [{"t": "Para", "c": [{"t": "Strong", "c": block["c"]}]} for block in cleaned if block["t"] == "Para"]
        return [{"t": "BlockQuote", "c": cleaned}] if _ALERTS & set(classes) else cleaned

    def _math(self, content: list[Any]) -> list[Element]:
        if self._math_as_code:
            self._left_out["A formula was kept as typed"] += 1
            return [{"t": "Code", "c": [["", [], []], content[1]]}]
        return [{"t": "Math", "c": content}]


def plain_text(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return the text of inlines."""
    if isinstance(value, list):
        return "".join(plain_text(item) for item in value)
    if not isinstance(value, dict):
        return ""
    if value.get("t") in {"Space", "SoftBreak", "LineBreak"}:
        return " "
    content: Any = value.get("c")
    if value.get("t") in {"Str", "Code", "Math"}:
        return str(content if isinstance(content, str) else content[1])
    return "" if value.get("t") == "Note" else plain_text(content)


def _attributes(kind: str, attributes: list[Any]) -> list[Any]:
    """Return the id of a heading and the language of code; all other attributes are removed."""
    id_, classes, _ = attributes
    if kind == "CodeBlock":
        return ["", [name for name in classes[:1] if _LANGUAGE.fullmatch(name)], []]
    return [id_ if kind == "Header" else "", [], []]


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its signature
        self._hidden += tag in {"script", "style"}
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"} and self._hidden > 0
        self._part(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)

    def _part(self, tag: str) -> None:
        if tag not in _INLINE_TAGS:
            self.words.append("\n")


def _words_of(html: str) -> str:
    parser = _Words()
    parser.feed(html)
    parser.close()
    return "".join(parser.words)
