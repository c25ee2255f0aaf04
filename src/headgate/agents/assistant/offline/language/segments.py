"""Cuts a request into clauses and says how each hangs on the one before."""

from dataclasses import dataclass

from headgate.agents.assistant.offline.language.lexicon import Mark
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_HEADS = ("a.", "o.", "f.", "v.dedupe")
"""What may begin a clause without a verb: `average price per city`, `top 10`, `largest first`."""
_LINKS = (
    "l.whether",
    "l.elseif",
    "l.else",
    "l.so",
    "l.join",
    "l.then",
    "l.unless",
    "l.if",
    "l.when",
    "l.depending",
    "l.before",
    "l.after",
    "l.between",
)
_CONDITION_WORDS = word_set("if when in om but and or")
_COMPLETE = word_set("not so otherwise none inte case fallet doesn't don't")
_SUBJECTS = word_set("it we you they he she the i den det vi")
_WEAK = word_set("start next and also but colon end")
"""Links that say only that something follows."""
_ANSWERS = {"yes": "so", "ja": "so", "no": "else", "nej": "else"}
_CONNECTORS = ("l.and", "l.also", "l.but")


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens `start` to `end` without the words that link them; `hard` when a sentence ended before it."""

    link: str
    start: int
    end: int
    hard: bool = False
    question: bool = False
    """Whether it ends with a question mark."""


class _Cutter:
    """Walks over the tokens once, closing a segment at each boundary."""

    def __init__(self, reading: Reading, start: int, end: int) -> None:
        self.reading = reading
        self.found: list[Segment] = []
        self.start = start
        self.end = end
        self.link = "start"
        self.hard = True

    def run(self) -> list[Segment]:
        at = self.start
        while at < self.end:
            at = self._step(at)
        self._close(self.end, "end", self.end, hard=True)
        return self.found

    def _step(self, at: int) -> int:
        token = self.reading.tokens[at]
        if token.kind is Kind.STOP:
            return self._close(
                at,
                "then" if token.text.strip() in {"->", "-->", "=>", "→", "|", ">"} else "next",
                at + 1,
                hard=True,
                question=token.text == "?",
            )
        if token.kind is Kind.COLON:
            return self._close(at, "colon", at + 1)
        if token.kind is Kind.SYMBOL and token.text in "()":
            return self._close(at, "next", at + 1)
        if token.kind is Kind.COMMA:
            after = self._skip_connectors(at + 1)
            return self._close(at, "next", at + 1) if self._starts_clause(after) else at + 1
        return self._word(at)

    def _word(self, at: int) -> int:
        answer = self._answer(at)
        if answer:
            self.reading.claim(at, at + 1)
            return self._close(at, answer, at + 1)
        self._open_courtesy(at)
        link = self.reading.mark(at, *_LINKS)
        if link is not None and self._links(at, link.sense):
            if self._opens_condition(link):
                self.reading.open_phrase(link.start, link.end)
                link = Mark("l.if", at, at + 1)
            self.reading.claim(link.start, link.end)
            return self._close(at, link.sense.removeprefix("l."), link.end)
        connector = self.reading.mark(at, *_CONNECTORS)
        if connector is not None:
            after = self._skip_connectors(connector.end)
            if self._starts_clause(after):
                return self._close(at, connector.sense.removeprefix("l."), connector.end)
            return connector.end
        if at > self.start and self.reading.is_action(at) and self._runs_on(at):
            return self._close(at, "next", at)
        return at + 1

    def _open_courtesy(self, at: int) -> None:
        """`if there are any GPL packages` is no mere `if there are any`."""
        mark = self.reading.mark(at, "d.courtesy")
        if mark is None or self.reading.tokens[at].word not in {"if", "om"} or mark.end >= self.end:
            return
        if not self.reading.is_punctuation(mark.end) and not self.reading.is_action(mark.end):
            self.reading.open_phrase(mark.start, mark.end)

    def _answer(self, at: int) -> str:
        """The link of `Yes: ...` or `No, ...` behind a question."""
        following = self.reading.tokens[at + 1] if at + 1 < self.end else None
        if at != self.start or not self.hard or following is None or following.kind not in {Kind.COLON, Kind.COMMA}:
            return ""
        return _ANSWERS.get(self.reading.tokens[at].word, "")

    def _close(self, end: int, link: str, resume: int, *, hard: bool = False, question: bool = False) -> int:
        """End the open segment before `end`; the next begins at `resume`."""
        empty = all(self.reading.is_punctuation(at) for at in range(self.start, end))
        if not empty or (self.link == "else" and hard and self.found):
            self.found.append(Segment(self.link, self.start, end, self.hard, question))
            self.link, self.hard = link, hard
        else:
            self.link = self.link if link in _WEAK and self.link not in _WEAK else link
            self.hard = self.hard or hard
        self.start = resume
        return resume

    def _skip_connectors(self, at: int) -> int:
        while self.reading.mark(at, *_CONNECTORS, "l.then", "d.adverb", "d.courtesy") is not None and not self._is_head(
            at
        ):
            mark = self.reading.mark(at, *_CONNECTORS, "l.then", "d.adverb", "d.courtesy")
            at = mark.end if mark else at + 1
        return at

    def _is_head(self, at: int) -> bool:
        return self.reading.is_action(at) or self.reading.mark(at, *_LINKS, *_HEADS) is not None

    def _starts_clause(self, at: int) -> bool:
        """Whether a clause begins here, rather than the next item of an enumeration."""
        reading = self.reading
        if at >= len(reading):
            return True
        token = reading.tokens[at]
        if token.kind in {Kind.STOP, Kind.COLON}:
            return True
        if reading.is_action(at) or reading.mark(at, *_LINKS) is not None:
            return True
        if self._starts_case(at) or self._starts_portion(at):
            return True
        if token.kind is Kind.QUOTED and reading.mark(at + 1, *_LINKS) is not None:
            return True
        mark = reading.mark(at, "p.into", "p.by", "p.per", "p.with")
        if mark is not None:
            after = mark.end
            while (
                after < len(reading) and reading.mark(after, "d.det") is not None and reading.mark(after, "f.") is None
            ):
                after += 1
            file_like = after < len(reading) and reading.tokens[after].kind is Kind.FILE
            return file_like or reading.mark(after, "f.", "p.by") is not None or self._groups_rows(at)
        conditional = self.link in {"if", "when", "unless"}
        if reading.mark(self._past_articles(at), "a.") is not None and self._is_definite(at):
            return False
        return (
            not conditional
            and not self._continues_figures(at)
            and reading.mark(self._past_articles(at), *_HEADS) is not None
        )

    def _groups_rows(self, at: int) -> bool:
        """`per city`, unless it goes with figures taken in this clause: `sum the hours, per employee`."""
        reading = self.reading
        if reading.mark(at, "p.per") is None:
            return False
        figures = reading.find(self.start, at, "a.", "v.count", "v.sum", "v.avg") is not None
        return not figures and reading.tokens[at].word not in {"every", "each", "varje"}

    def _past_articles(self, at: int) -> int:
        while (
            at < len(self.reading)
            and self.reading.mark(at, "d.det") is not None
            and self.reading.mark(at, *_HEADS) is None
        ):
            at += 1
        return at

    def _is_definite(self, at: int) -> bool:
        """`and the count`: a result there is already, not a new clause."""
        return self._past_articles(at) > at and self.reading.tokens[at].word in {"the", "that", "this", "those", "both"}

    def _continues_figures(self, at: int) -> bool:
        """`total size, number of packages and the ten heaviest`: figures of one clause, unless it is grouped."""
        reading = self.reading
        figures = any(reading.mark(n, "a.") is not None and not reading.is_action(n) for n in range(self.start, at))
        return (
            figures
            and reading.find(self.start, at, "p.per") is None
            and reading.mark(self._past_articles(at), "a.", "o.") is not None
        )

    def _starts_portion(self, at: int) -> bool:
        """`... and one with the others`."""
        words = [token.word for token in self.reading.tokens[at : at + 2]]
        return len(words) == 2 and words[0] in {"one", "another"} and words[1] in {"with", "for", "containing", "of"}

    def _starts_case(self, at: int) -> bool:
        """Whether `for sales write ...` begins here: a case of a choice and what to do in it."""
        mark = self.reading.mark(at, "p.for")
        if mark is None:
            return False
        ahead = range(mark.end + 1, min(mark.end + 5, len(self.reading)))
        stop = next((n for n in ahead if self.reading.is_punctuation(n)), None)
        return any(self.reading.is_action(n) for n in ahead if stop is None or n < stop) or (
            stop is not None and self.reading.tokens[stop].kind is Kind.COLON
        )

    def _links(self, at: int, sense: str) -> bool:
        """Whether a linking word links here: `after saving`, not `after` in a time; `when` before a condition."""
        reading = self.reading
        word = reading.tokens[at].word
        if word == "should":
            return at == self.start and self.hard
        if sense in {"l.before", "l.after"}:
            following = reading.tokens[at + 1] if at + 1 < len(reading) else None
            return following is not None and following.kind is not Kind.NUMBER
        if word == "efter":
            return at + 1 < len(reading) and (reading.is_action(at + 1) or reading.tokens[at + 1].word == "att")
        if sense == "l.between":
            return not any(token.kind is Kind.NUMBER for token in reading.tokens[at + 1 : at + 2])
        if sense == "l.then" and word in {"now", "first", "second", "third", "next"}:
            return at == self.start or reading.is_punctuation(at - 1)
        return True

    def _opens_condition(self, link: Mark) -> bool:
        """Whether `if it is` goes on to a condition (`if it is negative`) or stands for one (`if it is, ...`)."""
        if link.sense not in {"l.so", "l.else"} or (
            self.reading.mark(link.start, "l.else") and link.end - link.start == 1
        ):
            return False
        if self.reading.tokens[link.start].word not in _CONDITION_WORDS:
            return False
        at = link.end
        if at < len(self.reading) and self.reading.mark(at, "c.") is not None and not self.reading.is_action(at):
            return True
        ended = at >= len(self.reading) or self.reading.is_punctuation(at) or self.reading.tokens[at].word in _SUBJECTS
        complete = ended or self.reading.tokens[at - 1].word in _COMPLETE
        return not (complete or self.reading.is_action(at) or self.reading.mark(at, "l.then", "d.courtesy") is not None)

    def _runs_on(self, at: int) -> bool:
        """Whether a verb amid a clause begins a new one: `... get the pages count them ...`."""
        reading = self.reading
        before = reading.tokens[at - 1]
        word = reading.tokens[at].word
        if all(reading.is_light(i) or i in reading.used for i in range(self.start, at)):
            return False
        if (
            reading.mark(at, "c.") is not None
            or word.endswith("ed")
            or (reading.mark(at, "d.") is not None and reading.mark(at, "v.take", "v.list", "v.extract") is not None)
        ):
            return False
        return (
            before.word in {"to", "that", "which"}
            or not reading.is_light(at - 1)
            or reading.mark(at - 1, "ref.") is not None
        )


def segments(reading: Reading, start: int = 0, end: int | None = None) -> list[Segment]:
    """The clauses of a request or of a range of it, in order."""
    return _Cutter(reading, start, len(reading) if end is None else end).run()
