"""What a word such as `csv`, `table` or `report` is for in a clause: what is given, made, or how it is shown."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.agents.assistant.offline.language.lexicon import Mark
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

EXTENSIONS = {"f.csv": "csv", "f.json": "json", "f.markdown": "md", "f.html": "html", "f.text": "txt"}
SAVING = word_set(
    "save store export dump archive persist record spara lagra exportera arkivera saving storing saved stored saves"
    " stores exported sparas log"
)
"""Verbs that ask for a file even when none is named."""
_SHAPES = frozenset({"f.table", "f.list"})
_FILE_KINDS = frozenset({"f.csv", "f.text", "f.unsupported"})
_GIVEN = word_set("the my this our uploaded attached given min mitt den")
_MAKING = word_set("make build create write produce prepare compile generate give want like need single skapa gör ge")
_DEFINITE = word_set("filen dokumentet listan tabellen")


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads the format words of one clause."""

    reading: Reading
    start: int
    end: int
    has_file: bool
    """Whether the clause names a file to write."""

    @property
    def saving(self) -> bool:
        """Whether a verb that can mean saving acts in the clause."""
        reading = self.reading
        return any(
            reading.mark(at, "v.save") is not None and reading.is_action(at) for at in range(self.start, self.end)
        )

    def read(self) -> Iterator[Operation]:
        """The operations that the formats ask for; claims their words."""
        for mark in self.reading.find_all(self.start, self.end, "f."):
            if mark.start not in self.reading.used:
                yield from self._one(mark)

    def _one(self, mark: Mark) -> Iterator[Operation]:
        if self._names_input(mark):
            self.reading.claim(mark.start, mark.end)
            slots = {"sense": "s.file", "word": "csv" if mark.sense == "f.csv" else ""}
            yield Operation("source", slots, mark.start, mark.end)
        elif self._is_read(mark) or self._is_there(mark):
            return
        elif mark.sense == "f.report":
            yield from self._report(mark)
        elif self.has_file:
            yield from self._beside_file(mark)
        elif self._writes(mark) or (mark.sense in {*EXTENSIONS, "f.table"} and self._is_made(mark)):
            yield from self._format(mark)

    def _names_input(self, mark: Mark) -> bool:
        """`in the spreadsheet`, `my csv`, `I have a csv`: the format of what is given."""
        if self.saving:
            return False
        given = self._is_given(mark) and self.reading.tokens[mark.start].word != "txt"
        mentioned = mark.sense == "f.csv" and not (self._writes(mark) or self.has_file or self._is_made(mark))
        return (mark.sense in _FILE_KINDS and given) or mentioned

    def _is_read(self, mark: Mark) -> bool:
        """`fetch ... as JSON`: how to read, not how to write."""
        found = self.reading.find(self.start, mark.start, "v.take", "v.fetch", "v.parse")
        return mark.sense == "f.json" and not self.saving and found is not None

    def _is_there(self, mark: Mark) -> bool:
        """Whether the word is for something that exists: `the document`, `in the file`, `the list`."""
        word = self.reading.tokens[mark.end - 1].word
        definite = self._is_given(mark) or word in _DEFINITE
        if mark.sense == "f.report":
            return definite and word in {"document", "page", "dokument", "dokumentet", "note"}
        if mark.sense == "f.file":
            return definite and not self.saving
        return definite and mark.sense in _SHAPES and mark.end - mark.start == 1

    def _is_given(self, mark: Mark) -> bool:
        return mark.start > 0 and self.reading.tokens[mark.start - 1].word in _GIVEN

    def _writes(self, mark: Mark) -> bool:
        return self.saving or self._is_target(mark)

    def _is_target(self, mark: Mark) -> bool:
        """Whether a format is what something is put in: `as csv`, `in a little file`, `both as json and csv`."""
        reading = self.reading
        for at in range(mark.start - 1, self.start - 1, -1):
            passable = reading.is_light(at) or reading.mark(at, "l.and", "f.") is not None
            if not passable or reading.tokens[at].kind is Kind.STOP:
                return False
            if reading.mark(at, "p.into", "p.as") is not None:
                return True
        return False

    def _is_made(self, mark: Mark) -> bool:
        """Whether a report or file is what the clause makes: `make a report of both`, `give me a csv with ...`."""
        verbs = [at for at in range(self.start, mark.start) if self.reading.is_action(at)]
        said = range(verbs[-1] if verbs else self.start, mark.start)
        return bool({self.reading.tokens[at].word for at in said} & _MAKING)

    def _report(self, mark: Mark) -> Iterator[Operation]:
        if not self._writes(mark) and not self._is_made(mark):
            return
        self.reading.claim(mark.start, mark.end)
        yield Operation("combine", {"report": True}, mark.start, mark.end)
        asks_for_file = any(self.reading.tokens[at].word in SAVING for at in range(self.start, self.end))
        if asks_for_file and not self.has_file:
            yield Operation("save", {"extension": "md", "base": "report"}, mark.start, mark.end)

    def _beside_file(self, mark: Mark) -> Iterator[Operation]:
        """The format of a file that has a name already."""
        if mark.sense != "f.json" and (self._writes(mark) or mark.sense in _SHAPES):
            self.reading.claim(mark.start, mark.end)
            if mark.sense in _SHAPES:
                yield Operation("shape", {"sense": mark.sense}, mark.start, mark.end)

    def _format(self, mark: Mark) -> Iterator[Operation]:
        at = (mark.start, mark.end)
        self.reading.claim(*at)
        if mark.sense == "f.unsupported":
            yield Operation("unsupported", {"sense": mark.sense, "word": self.reading.source(*at)}, *at)
        elif mark.sense in _SHAPES or (mark.sense == "f.markdown" and not self.saving):
            yield Operation("shape", {"sense": mark.sense}, *at)
        elif mark.sense == "f.file":
            yield Operation("save", {}, *at)
        elif mark.sense in EXTENSIONS:
            yield Operation("save", {"extension": EXTENSIONS[mark.sense]}, *at)
