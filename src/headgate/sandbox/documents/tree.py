"""The parsed text (pandoc's JSON) made safe and whole before it is written: no raw markup, no foreign address.

What pandoc's writers would pass through or look up is settled here: raw blocks of any format, attributes, images,
links to places that do not exist. The result holds nothing but text, structure and images already in hand.
"""

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

MOST_DEPTH = 120
"""Deepest nesting that is set; Typst and Word both give up somewhat later."""
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,32}")
_INLINE_TAGS = frozenset(
    {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "small", "span", "strong", "sub", "sup", "u"}
)
_LINKS = ("http://", "https://", "mailto:", "tel:")
_ALERTS = frozenset({"note", "tip", "important", "warning", "caution"})
_WITH_ATTRIBUTES = frozenset({"Code", "CodeBlock", "Header", "Span", "Table", "Figure"})

Element = dict[str, Any]
ImageOf = Callable[[str], str]
"""Target of an image to the place where the writer finds it. Raises `Unusable` with the reason."""


class Unusable(Exception):
    """Why an image is replaced by its alternative text."""


class TooDeep(Exception):
    """The text is nested deeper than can be set."""


class Cleaner:
    """Cleans one document.

    Args:
        image_of: Where the writer finds an image.
        math_as_code: Set formulas as they were typed, for when they could not be set as formulas.
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
        """The document, clean and without metadata. Raises `TooDeep`."""
        blocks = document["blocks"]
        self._collect(blocks, 0)
        return {**document, "meta": {}, "blocks": self._list(blocks)}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or replaced."""
        notes = [f"{what}{f' ({count} times)' if count > 1 else ''}." for what, count in self._left_out.items()]
        if self._tags:
            notes.append(f"HTML tags were left out, their text was kept: {', '.join(list(self._tags)[:12])}.")
        return tuple(notes)

    def _collect(self, value: Any, depth: int) -> None:  # noqa: ANN401 - JSON
        """Look at the whole depth once, and at the places that links can lead to."""
        if depth > 3 * MOST_DEPTH:  # an element is two or three levels of JSON
            raise TooDeep
        if isinstance(value, dict):
            if value.get("t") == "Header":
                self._ids.add(value["c"][1][0])
                self.heading = self.heading or plain_text(value["c"][2])
            self._collect(value.get("c"), depth + 1)
        elif isinstance(value, list):
            for one in value:
                self._collect(one, depth + 1)

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
            at = 1 if kind == "Header" else 0
            content = [*content]
            content[at] = _attributes(str(kind), content[at])
        return [{**element, "c": self._list(content)} if isinstance(content, list) else element]

    def _raw_inline(self, content: list[str]) -> list[Element]:
        text = content[1].strip()
        if re.fullmatch(r"<br\s*/?>", text, re.IGNORECASE):
            return [{"t": "LineBreak"}]
        self._note_tags(text)
        return []

    def _raw_block(self, content: list[str]) -> list[Element]:
        """The words of a block of HTML, a paragraph a line."""
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
            place = self._image_of(target)
        except Unusable as reason:
            shown = target if len(target) <= 80 else target[:80] + "..."
            self._left_out[f"The image '{shown}' was replaced by its text: {reason}"] += 1
            return [{"t": "Emph", "c": alternative or [{"t": "Str", "c": "[image]"}]}]
        return [{"t": "Image", "c": [["", [], []], alternative, [place, title]]}]

    def _link(self, content: list[Any]) -> list[Element]:
        _, words, (target, _) = content
        cleaned = self._list(words)
        inside = target.startswith("#") and target[1:] in self._ids
        if inside or target.lower().startswith(_LINKS):
            return [{"t": "Link", "c": [["", [], []], cleaned, [target, ""]]}]
        return cleaned

    def _div(self, content: list[Any]) -> list[Element]:
        """GitHub's alerts become quotes with a bold first line; anything else is its content."""
        (_, classes, _), blocks = content
        cleaned = self._list(blocks)
        if "title" in classes:
            return [{"t": "Para", "c": [{"t": "Strong", "c": block["c"]}]} for block in cleaned if block["t"] == "Para"]
        return [{"t": "BlockQuote", "c": cleaned}] if _ALERTS & set(classes) else cleaned

    def _math(self, content: list[Any]) -> list[Element]:
        if self._math_as_code:
            self._left_out["A formula was set as it was typed"] += 1
            return [{"t": "Code", "c": [["", [], []], content[1]]}]
        return [{"t": "Math", "c": content}]


def plain_text(value: Any) -> str:  # noqa: ANN401 - JSON
    """The words of inlines."""
    if isinstance(value, list):
        return "".join(plain_text(one) for one in value)
    if not isinstance(value, dict):
        return ""
    if value.get("t") in {"Space", "SoftBreak", "LineBreak"}:
        return " "
    content: Any = value.get("c")
    if value.get("t") in {"Str", "Code", "Math"}:
        return str(content if isinstance(content, str) else content[1])
    return "" if value.get("t") == "Note" else plain_text(content)


def _attributes(kind: str, given: list[Any]) -> list[Any]:
    """Of a heading its id, of code its language; a writer sees no other attribute."""
    id_, classes, _ = given
    if kind == "CodeBlock":
        return ["", [one for one in classes[:1] if _LANGUAGE.fullmatch(one)], []]
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
