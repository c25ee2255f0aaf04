"""`... and run it with the text "hello"`: the wish to run, and with what."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.agents.assistant.offline.assembly.draft import slug
from headgate.agents.assistant.offline.grammar.slots import value_at
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_OBJECTS = word_set(
    "it this that flow now please on with using the a and go ahead then once for me again straight right away "
    "det den flödet nu med på"
)
_SETTING = word_set("set to of is as being at the a an till")
_TEXT_WORDS = word_set("text input message string words texten")


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a run is started with."""

    text: str = ""
    form: dict[str, JsonValue] = field(default_factory=dict)

    def arguments(self) -> dict[str, JsonValue]:
        """As the tool takes them."""
        found: dict[str, JsonValue] = {"text": self.text} if self.text else {}
        return found | ({"form": self.form} if self.form else {})


def take_run(reading: Reading, clauses: Sequence[Segment]) -> tuple[RunRequest | None, list[Segment]]:
    """The wish to run the flow, claimed, and the clauses left."""
    left: list[Segment] = []
    found: RunRequest | None = None
    for clause in clauses:
        request = _run_of(reading, clause)
        if request is None and clause.link == "colon" and found is not None and not found.arguments():
            reading.claim(clause.start, clause.end)
            found = RunRequest(text=reading.text[reading.tokens[clause.start].start :].strip())
        elif request is None:
            left.append(clause)
        else:
            found = request if found is None or request.text or request.form else found
    return found, left


def _run_of(reading: Reading, clause: Segment) -> RunRequest | None:
    at = clause.start
    while at < clause.end and reading.is_light(at) and reading.mark(at, "r.run") is None:
        at += 1
    mark = reading.mark(at, "r.run") if at < clause.end else None
    if mark is None or not (reading.is_action(at) or at == clause.start):
        return None
    rest = mark.end
    if not _only_input(reading, rest, clause.end):
        return None
    reading.claim(clause.start, clause.end)
    return _input(reading, rest, clause.end)


def _only_input(reading: Reading, at: int, end: int) -> bool:
    """Whether nothing but the flow and its input follows `run`."""
    if at >= end:
        return True
    first = reading.tokens[at]
    if first.word not in _OBJECTS and first.kind not in {Kind.QUOTED, Kind.NUMBER}:
        return False
    return not any(
        reading.mark(n, "v.") is not None and reading.is_action(n) and not _inside_text(reading, at, n)
        for n in range(at, end)
    )


def _inside_text(reading: Reading, start: int, at: int) -> bool:
    return any(reading.tokens[n].word in _TEXT_WORDS for n in range(start, at))


def _input(reading: Reading, at: int, end: int) -> RunRequest:
    quoted = next((reading.tokens[n] for n in range(at, end) if reading.tokens[n].kind is Kind.QUOTED), None)
    form = _form(reading, at, end)
    if form:
        return RunRequest(form=form)
    if quoted is not None:
        return RunRequest(text=str(quoted.value))
    for n in range(at, end):
        if reading.tokens[n].word in _TEXT_WORDS and n + 1 < end:
            start = n + 1
            while start < end and reading.tokens[start].kind is Kind.COLON:
                start += 1
            return RunRequest(text=reading.source(start, end))
    words = [n for n in range(at, end) if reading.tokens[n].word in {"with", "on", "using", "med", "på"}]
    if words and words[0] + 1 < end and not all(reading.is_light(n) for n in range(words[0] + 1, end)):
        return RunRequest(text=reading.source(words[0] + 1, end))
    return RunRequest()


def _form(reading: Reading, at: int, end: int) -> dict[str, JsonValue]:
    """`amount 15000`, `amount = 12 000 and name Bo`."""
    found: dict[str, JsonValue] = {}
    while at < end:
        token = reading.tokens[at]
        named = token.kind in {Kind.WORD, Kind.PATH} and (
            reading.mark(at, "n.column") is not None or not reading.is_light(at)
        )
        equals = at + 1 < end and reading.tokens[at + 1].text in {"=", ":"}
        if (named and token.word not in _OBJECTS | _TEXT_WORDS) or equals:
            start = at + 2 if equals else at + 1
            while start < end and reading.tokens[start].word in _SETTING:
                start += 1
            read = value_at(reading, start, end) if start < end and reading.mark(start, "l.and") is None else None
            if read is not None and (
                equals or isinstance(read[0], int | float) or reading.mark(at, "n.column") is not None
            ):
                found[slug(token.text)] = read[0]
                at = read[1]
                continue
        at += 1
    return found
