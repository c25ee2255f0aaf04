"""One line per component, for prompts, so that agents know what exists. Pure."""

import re
from collections.abc import Iterator

from headgate.graph.template import Catalog, Template
from headgate.toolkit.reading import first_sentence

MOST_CHARACTERS = 2_300
_CLAUSE = re.compile(r"[:;] ")
_LENGTHS = range(42, 15, -1)
"""Characters of a component's description: as many as fit."""
_LOOSE_ENDS = frozenset(
    [
        *("a", "an", "and", "any", "by", "every", "for", "from", "in", "into", "of", "or", "over", "that", "the", "to"),
        *("until", "was", "what", "which", "with"),
    ]
)
"""Words that a shortened description does not end with."""


def catalogue_lines(catalog: Catalog, most: int = MOST_CHARACTERS) -> str:
    """Return a line for each type with the start of its description, shorter the more there are.

    When not even short lines fit, the last types are listed by name, and counted when that does not fit either.
    """
    templates = list(_templates(catalog))
    for length in _LENGTHS:
        lines = [f"{template.type}: {_brief(first_sentence(template.description), length)}" for template in templates]
        if sum(len(line) + 1 for line in lines) <= most:
            return "\n".join(lines)
    return _shortened(templates, lines, most)


def _shortened(templates: list[Template], lines: list[str], most: int) -> str:
    left = most
    for count, line in enumerate(lines):
        if left < len(line) + 200:
            others = [template.type for template in templates[count:]]
            return "\n".join([*lines[:count], _others(others, left)])
        left -= len(line) + 1
    return "\n".join(lines)


def _templates(catalog: Catalog) -> Iterator[Template]:
    for type_ in catalog.types():
        template = catalog.template(type_)
        if template is not None:
            yield template


def _others(types: list[str], left: int) -> str:
    named = list[str]()
    for type_ in types:
        left -= len(type_) + 2
        if left < 60:
            break
        named.append(type_)
    more = len(types) - len(named)
    return f"Also: {', '.join(named)}" + (f" and {more} more; search_components finds them." if more else ".")


def _brief(sentence: str, longest: int) -> str:
    """Return the first clause of a sentence, or its beginning, cut at a suitable word."""
    text = _CLAUSE.split(sentence, maxsplit=1)[0].rstrip(".")
    if len(text) <= longest:
        return text
    words = text[: longest + 1].split(" ")[:-1]
    while words and words[-1] in _LOOSE_ENDS:
        words.pop()
    return " ".join(words).rstrip(" ,+-")
