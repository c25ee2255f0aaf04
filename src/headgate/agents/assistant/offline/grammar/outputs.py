"""Where results go, as said in a clause: files, formats, the screen, a web address."""

from collections.abc import Iterator

from headgate.agents.assistant.offline.grammar.formats import EXTENSIONS, SAVING, FormatReader
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_UNWRITABLE = word_set("pdf docx xlsx xml yaml yml tsv")
_READING = ("v.take", "v.fetch", "v.parse", "v.extract", "v.split")


def read_outputs(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """The savings and showings of a clause; claims their words."""
    saved = list(_files(reading, start, end))
    named = any(operation.name == "save" for operation in saved)
    formats = list(FormatReader(reading, start, end, named).read())
    yield from saved
    yield from formats
    saves = any(operation.name in {"save", "unsupported"} for operation in saved + formats)
    yield from _verbs(reading, start, end, saves=saves, shaped=bool(formats))


def _files(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    for at in range(start, end):
        token = reading.tokens[at]
        if token.kind is not Kind.FILE or at in reading.used:
            continue
        if _is_read(reading, start, at):
            reading.claim(at, at + 1)
            yield Operation("source", {"sense": "s.file", "named": token.text}, at, at + 1)
            continue
        reading.claim(at, at + 1)
        if _is_called(reading, start, at):
            reading.claim(start, at)
        _claim_before(reading, start, at, "d.helper", "f.file", *EXTENSIONS, "p.", "s.file")
        extension = token.word.rpartition(".")[2]
        if extension in _UNWRITABLE:
            yield Operation(
                "unsupported", {"sense": "f.unsupported", "word": extension, "name": token.text}, at, at + 1
            )
        else:
            yield Operation("save", {"name": token.text, "called": _is_called(reading, start, at)}, at, at + 1)


def _is_read(reading: Reading, start: int, at: int) -> bool:
    """Whether the file is read rather than written: `read sales.csv and ...`."""
    verbs = [n for n in range(start, at) if reading.is_action(n)]
    if verbs and reading.tokens[verbs[-1]].word in SAVING:
        return False
    into = reading.mark(at - 1, "p.into", "p.to") if at > start else None
    if into is not None and reading.tokens[at - 1].word not in {"in", "i"}:
        return False
    last = reading.mark(verbs[-1], *_READING, "v.save", "v.show") if verbs else None
    named = (
        at > start
        and reading.mark(at - 1, "p.from") is not None
        and reading.tokens[at - 1].word in {"from", "of", "från", "ur"}
    )
    return named or (last is not None and last.sense in _READING and into is None)


def _is_called(reading: Reading, start: int, at: int) -> bool:
    """Whether the name is given to what was saved before: `call it mit.csv`."""
    naming = any(reading.tokens[n].word in {"call", "name", "kalla", "döp"} for n in range(start, at))
    return naming and not any(reading.mark(n, "v.save") is not None and reading.is_action(n) for n in range(start, at))


def _verbs(reading: Reading, start: int, end: int, *, saves: bool, shaped: bool) -> Iterator[Operation]:
    for at in range(start, end):
        if at in reading.used or not reading.is_action(at):
            continue
        mark = reading.mark(at, "v.save", "v.show")
        if mark is None:
            continue
        if mark.sense == "v.save" and (saves or reading.tokens[at].word in SAVING):
            reading.claim(mark.start, mark.end)
            if not saves and not shaped:
                yield Operation("save", {}, mark.start, mark.end)
            elif not saves:
                yield Operation("save", {"extension": "md"}, mark.start, mark.end)
            saves = True
        elif mark.sense == "v.show" and not saves:
            reading.claim(mark.start, mark.end)
            yield Operation("show", {}, mark.start, mark.end)
    if not saves and (found := reading.mark(start, "v.show")) is not None:
        reading.claim(found.start, found.end)


def _leads(reading: Reading, at: int, senses: tuple[str, ...]) -> bool:
    """Whether a word only leads up to a file name."""
    pointing = reading.mark(at, "ref.") is not None or reading.is_action(at)
    return reading.mark(at, *senses, "d.det") is not None and not pointing


def _claim_before(reading: Reading, start: int, at: int, *senses: str) -> None:
    """Claim the words that lead up to a file name: `in a file called`."""
    while at > start and _leads(reading, at - 1, senses):
        at -= 1
        reading.claim(at, at + 1)
