"""Components of the person who asks, called by their class name: `run it through Slugify and show it`."""

from collections.abc import Sequence
from dataclasses import replace

from headgate.agents.assistant.offline.grammar.operations import Operation, Statement
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment
from headgate.features.catalog.words import word_set
from headgate.graph.template import Catalog

_USING = word_set(
    "use run pass put send apply feed let do make transform convert process work through with by via into to on for "
    "component step own it this that them result använd kör skicka gör om genom med via till komponenten steget den det"
)
"""Words that say no more than that a component is to be used."""


def own_steps(
    reading: Reading, clauses: Sequence[Segment], catalog: Catalog
) -> tuple[dict[int, Statement], list[Segment]]:
    """The step of each own component that is named, by the token it comes before, and the clauses without the name.

    The rest of its clause is read as usual when it says more than that the component is used: `split it into lines
    with Slugify`. What it is used on comes before it: `use Slugify on my text`.
    """
    own = {type_ for type_ in catalog.types() if catalog.code(type_) is not None}
    steps: dict[int, Statement] = {}
    left: list[Segment] = []
    for clause in clauses:
        at = next((at for at in range(clause.start, clause.end) if reading.tokens[at].text in own), None)
        if at is None:
            left.append(clause)
            continue
        operation = Operation("component", {"type": reading.tokens[at].text}, at, at + 1)
        acts = any(reading.is_action(n) for n in range(at + 1, clause.end))
        steps[at if acts else clause.end] = Statement((operation,), (), at, at + 1)
        left += _around(reading, clause, at)
    return steps, left


def _around(reading: Reading, clause: Segment, at: int) -> list[Segment]:
    """The parts of a clause beside a component's name; those that only say that it is used are claimed."""
    reading.claim(at, at + 1)
    parts = []
    for part in (replace(clause, end=at), replace(clause, link="then", start=at + 1)):
        if all(reading.is_light(n) or reading.tokens[n].word in _USING for n in range(part.start, part.end)):
            reading.claim(part.start, part.end)
        else:
            parts.append(part)
    return parts
