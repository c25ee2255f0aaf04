"""Where results go, as said in a clause: files, formats, the screen, a web address."""

from collections.abc import Iterator

from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.agents.assistant.offline.language.lexicon import Mark
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

EXTENSIONS = {"f.csv": "csv", "f.json": "json", "f.markdown": "md", "f.html": "html", "f.text": "txt"}
_FILE_KINDS = frozenset({"f.csv", "f.text", "f.unsupported"})
_GIVEN = word_set("the my this our uploaded attached given min mitt den")
_MAKING = word_set("make build create write produce prepare compile generate give want like need single skapa gör ge")
_UNWRITABLE = word_set("pdf docx xlsx xml yaml yml tsv")
_SAVING = word_set(
    "save store export dump archive persist record spara lagra exportera arkivera saving storing saved stored "
    "saves stores exported sparas log"
)
"""Verbs that ask for a file even when none is named."""
_READING = ("v.take", "v.fetch", "v.parse", "v.extract", "v.split")


def read_outputs(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """The savings and showings of a clause; claims their words."""
    saved = list(_files(reading, start, end))
    formats = list(_formats(reading, start, end, has_file=any(operation.name == "save" for operation in saved)))
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
    if verbs and reading.tokens[verbs[-1]].word in _SAVING:
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


def _formats(reading: Reading, start: int, end: int, *, has_file: bool) -> Iterator[Operation]:
    saving = _saving_verb(reading, start, end) is not None
    for mark in reading.find_all(start, end, "f."):
        if mark.start in reading.used:
            continue
        into = _is_target(reading, mark, start)
        writes = into or saving
        if (
            mark.sense in _FILE_KINDS
            and not saving
            and _is_given(reading, mark)
            and reading.tokens[mark.start].word != "txt"
        ):
            reading.claim(mark.start, mark.end)
            slots = {"sense": "s.file", "word": "csv" if mark.sense == "f.csv" else ""}
            yield Operation("source", slots, mark.start, mark.end)
            continue
        if (
            mark.sense == "f.json"
            and not saving
            and reading.find(start, mark.start, "v.take", "v.fetch", "v.parse") is not None
        ):
            continue
        if _is_there(reading, mark, saving=saving):
            continue
        if mark.sense == "f.report":
            if writes or _is_made(reading, mark, start):
                reading.claim(mark.start, mark.end)
                yield Operation("combine", {"report": True}, mark.start, mark.end)
                if not has_file and _asks_for_file(reading, start, end):
                    yield Operation("save", {"extension": "md", "base": "report"}, mark.start, mark.end)
        elif mark.sense == "f.csv" and not writes and not has_file and not _is_made(reading, mark, start):
            reading.claim(mark.start, mark.end)
            yield Operation("source", {"sense": "s.file", "word": "csv"}, mark.start, mark.end)
        elif (not writes and not (mark.sense in EXTENSIONS and _is_made(reading, mark, start))) or has_file:
            if has_file and (writes or mark.sense in {"f.table", "f.list"}) and mark.sense != "f.json":
                reading.claim(mark.start, mark.end)
                if mark.sense in {"f.table", "f.list"}:
                    yield Operation("shape", {"sense": mark.sense}, mark.start, mark.end)
        else:
            yield from _format(reading, mark, saving=saving)


def _is_there(reading: Reading, mark: Mark, *, saving: bool) -> bool:
    """Whether the word is for something that exists: `the document`, `in the file`, `the list`."""
    word = reading.tokens[mark.end - 1].word
    definite = _is_given(reading, mark) or word in {"filen", "dokumentet", "listan", "tabellen"}
    if mark.sense == "f.report":
        return definite and word in {"document", "page", "dokument", "dokumentet", "note"}
    if mark.sense == "f.file":
        return definite and not saving
    return definite and mark.sense in {"f.list", "f.table"} and mark.end - mark.start == 1


def _is_given(reading: Reading, mark: Mark) -> bool:
    """Whether a format names what is there already: `in the spreadsheet`, `my csv`."""
    return mark.start > 0 and reading.tokens[mark.start - 1].word in _GIVEN


def _format(reading: Reading, mark: Mark, *, saving: bool) -> Iterator[Operation]:
    reading.claim(mark.start, mark.end)
    at = (mark.start, mark.end)
    if mark.sense == "f.unsupported":
        yield Operation("unsupported", {"sense": mark.sense, "word": reading.source(*at)}, *at)
    elif mark.sense in {"f.table", "f.list"}:
        yield Operation("shape", {"sense": mark.sense}, *at)
    elif mark.sense == "f.file":
        yield Operation("save", {}, *at)
    elif mark.sense == "f.markdown" and not saving:
        yield Operation("shape", {"sense": "f.table"}, *at)
    else:
        yield Operation("save", {"extension": EXTENSIONS[mark.sense]}, *at)


def _is_target(reading: Reading, mark: Mark, start: int) -> bool:
    """Whether a format is what something is put in: `as csv`, `in a little file`, `both as json and csv`."""
    at = mark.start - 1
    while (
        at >= start
        and (reading.is_light(at) or reading.mark(at, "l.and", "f.") is not None)
        and reading.tokens[at].kind is not Kind.STOP
    ):
        if reading.mark(at, "p.into", "p.as") is not None:
            return True
        at -= 1
    return False


def _is_made(reading: Reading, mark: Mark, start: int) -> bool:
    """Whether a report or file is what the clause makes: `make a report of both`, `give me a csv with ...`."""
    words = {reading.tokens[at].word for at in range(start, mark.start)}
    return bool(words & _MAKING)


def _asks_for_file(reading: Reading, start: int, end: int) -> bool:
    """Whether a verb that can only mean a file stands in the clause: `save`, not `put`."""
    return any(reading.tokens[at].word in _SAVING for at in range(start, end))


def _saving_verb(reading: Reading, start: int, end: int) -> int | None:
    return next(
        (at for at in range(start, end) if reading.mark(at, "v.save") is not None and reading.is_action(at)), None
    )


def _verbs(reading: Reading, start: int, end: int, *, saves: bool, shaped: bool) -> Iterator[Operation]:
    for at in range(start, end):
        if at in reading.used or not reading.is_action(at):
            continue
        mark = reading.mark(at, "v.save", "v.show")
        if mark is None:
            continue
        if mark.sense == "v.save" and (saves or reading.tokens[at].word in _SAVING):
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
