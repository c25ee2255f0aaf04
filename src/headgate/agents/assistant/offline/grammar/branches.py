"""The branches of a choice: what is to be done when its condition holds, and otherwise."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.grammar.operations import Case, Operation, Part, Statement
from headgate.agents.assistant.offline.grammar.sayings import read_body, skip_subject
from headgate.agents.assistant.offline.grammar.slots import skip_light
from headgate.agents.assistant.offline.grammar.statements import read_statement
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment

_OUTPUTS = ("save", "send", "show")


class Branches:
    """Walks over the clauses of a request, each read once, and reads branches where it stands."""

    def __init__(self, reading: Reading, clauses: Sequence[Segment]) -> None:
        self.reading = reading
        self.clauses = clauses
        self.at = 0

    def _focus(self, start: int, stop: int) -> Statement | None:
        """Sources and derivations named inside a condition."""
        found = read_statement(self.reading, start, stop)
        kept = tuple(one for one in found.operations if one.name in {"source", "derive", "date"})
        judged = self.reading.find(start, stop, "mn.classify", "m.classify")
        if judged is not None:
            asked = f"Say in one word what the {self.reading.source(judged.start, judged.end)} is"
            kept = (*kept, Operation("model", {"sense": judged.sense, "instruction": asked}, start, stop))
        mentions = tuple(m for m in found.mentions if m.kind != "named")
        return Statement(kept, mentions, start, stop) if kept or mentions else None

    def _body_rest(self, clause: Segment, stop: int) -> list[Statement]:
        """What stands behind the condition in the same clause: `if it is over 10 ask for review`."""
        stop = skip_subject(self.reading, stop, clause.end)
        if all(self.reading.is_light(at) or self.reading.is_punctuation(at) for at in range(stop, clause.end)):
            return []
        return [read_body(self.reading, Segment("next", stop, clause.end))]

    def _body(self, *, allow_more: bool, started: bool) -> list[Part]:
        """The clauses of a branch: up to `otherwise`, the end of the sentence, or a word that joins the branches."""
        found: list[Part] = []
        while self.at < len(self.clauses):
            clause = self.clauses[self.at]
            ends = clause.link in {"else", "elseif", "so", "join", "if", "when", "unless", "depending"}
            if ends or ((found or started) and (clause.hard or not allow_more)):
                break
            if (found or started) and not self._else_follows() and clause.link not in {"and", "also"}:
                break
            if clause.link in {"before", "after"}:
                break
            self.at += 1
            found.append(read_body(self.reading, clause))
        return found

    def _else_follows(self) -> bool:
        """Whether `otherwise` comes later in this sentence, so that everything before it is one branch."""
        for clause in self.clauses[self.at :]:
            if clause.link in {"else", "elseif"}:
                return True
            if clause.hard:
                return False
        return False

    def _otherwise(self, cases: list[Case]) -> tuple[Part, ...]:
        if self.at >= len(self.clauses) or self.clauses[self.at].link != "else":
            return ()
        clause = self.clauses[self.at]
        self.at += 1
        start = self._past_case_name(clause)
        found: list[Part] = [] if start >= clause.end else [read_body(self.reading, Segment("next", start, clause.end))]
        if not found:
            found = self._body(allow_more=False, started=False)
        while self._belongs_to_branch(cases, found):
            found.append(read_body(self.reading, self.clauses[self.at]))
            self.at += 1
        return tuple(found)

    def _past_case_name(self, clause: Segment) -> int:
        """Past the words that name the remaining case: `for any other country`, `everything else`."""
        at = clause.start
        while (
            at < clause.end
            and (self.reading.mark(at, "n.column", "ref.") is not None)
            and not self.reading.is_action(at)
        ):
            self.reading.claim(at, at + 1)
            at += 1
        return at

    def _belongs_to_branch(self, cases: list[Case], before: list[Part]) -> bool:
        """Whether the next clause still says what to do otherwise: when the other branches also end in an output."""
        if self.at >= len(self.clauses):
            return False
        clause = self.clauses[self.at]
        if clause.hard or clause.link not in {"and", "next"}:
            return False
        if self._goes_on_working(before, clause):
            return True
        if clause.link != "and":
            return False
        ends = [case.body[-1] for case in cases if case.body]
        return bool(ends) and all(
            isinstance(part, Statement) and part.has(*_OUTPUTS) and len(case.body) > 1
            for case, part in zip(cases, ends, strict=False)
        )

    def _goes_on_working(self, before: list[Part], clause: Segment) -> bool:
        """`otherwise split it into sentences, number them`: work on what the branch just made, no output yet."""
        last = before[-1] if before else None
        works = isinstance(last, Statement) and bool(last.operations) and not last.has("say", "which", *_OUTPUTS)
        pronoun = self.reading.find(clause.start, clause.end, "ref.one", "ref.many") is not None
        puts_out = self.reading.find(clause.start, clause.end, "v.save", "v.show", "v.send", "v.combine") is not None
        return works and pronoun and not puts_out

    def _past_place(self, at: int, end: int) -> int:
        """Past `in the text` behind a condition: it says where to look."""
        mark = self.reading.mark(at, "p.from") if at < end else None
        after = skip_light(self.reading, mark.end, end, 2) if mark is not None else at
        place = self.reading.mark(after, "s.") if mark is not None and after < end else None
        return place.end if place is not None else at
