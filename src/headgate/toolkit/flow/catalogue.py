"""One line per component, for prompts, so that agents know what exists. Pure."""

import re
from collections.abc import Iterator

from headgate.graph.template import Catalog, Template
from headgate.toolkit.reading import first_sentence

MOST_CHARACTERS = 3_000
_CLAUSE = re.compile(r"[:;] ")
_LONGEST = 42
"""Characters of a component's description."""


def catalogue_lines(catalog: Catalog, most: int = MOST_CHARACTERS) -> str:
    """Return each type with its description as far as they fit; then the names of others, and how many remain."""
    lines, left = list[str](), list[str]()
    room = most
    for template in _templates(catalog):
        line = f"{template.type}: {_brief(first_sentence(template.description))}"
        if room < len(line) + 200:
            left.append(template.type)
            continue
        lines.append(line)
        room -= len(line) + 1
    if left:
        lines.append(_others(left, room))
    return "\n".join(lines)


def _templates(catalog: Catalog) -> Iterator[Template]:
    for type_ in catalog.types():
        template = catalog.template(type_)
        if template is not None:
            yield template


def _others(types: list[str], room: int) -> str:
    named = list[str]()
    for type_ in types:
        room -= len(type_) + 2
        if room < 60:
            break
        named.append(type_)
    more = len(types) - len(named)
    return f"Also: {', '.join(named)}" + (f" and {more} more; search_components finds them." if more else ".")


def _brief(sentence: str) -> str:
    """Return the first clause of a sentence, cut at a suitable word."""
    text = _CLAUSE.split(sentence, maxsplit=1)[0].rstrip(".")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0].rstrip(" ,+-") + " ..."
