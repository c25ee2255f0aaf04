"""A whole request as a program: statements in order, and choices with their branches."""

from collections.abc import Sequence
from dataclasses import replace

from headgate.agents.assistant.offline.grammar.branches import Branches
from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.conditions import read_condition
from headgate.agents.assistant.offline.grammar.operations import Case, Choice, Operation, Part, Statement
from headgate.agents.assistant.offline.grammar.sayings import read_body, skip_subject
from headgate.agents.assistant.offline.grammar.slots import column_at, skip_light, value_at
from headgate.agents.assistant.offline.grammar.statements import claim_condition, read_statement
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment, segments
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.agents.assistant.offline.language.vocabulary import LIGHT_WORDS
from headgate.features.catalog.words import word_set

_CONDITIONAL = frozenset({"if", "when", "unless", "elseif"})
_NUMERIC = frozenset({"over", "under", "least", "most"})
_OPPOSITES = word_set(
    "lower less smaller below under higher more larger above not otherwise isn't doesn't fewer shorter longer"
)
_YES_OR_NO = word_set("is are was were does do did has have can är har finns")


def read_program(reading: Reading, clauses: Sequence[Segment] | None = None) -> list[Part]:
    """The request as statements and choices; claims every word it understands."""
    return _Program(reading, segments(reading) if clauses is None else clauses).parts()


class _Program(Branches):
    """Reads statements and choices, one clause after the other."""

    def __init__(self, reading: Reading, clauses: Sequence[Segment]) -> None:
        super().__init__(reading, clauses)
        self.otherwise_said: tuple[Part, ...] = ()
        """What to do otherwise, when it was said in the same clause as the condition."""
        self.asked: Condition | None = None
        """The condition of a yes-or-no question, for `if so` behind it."""

    def parts(self) -> list[Part]:
        found: list[Part] = []
        while self.at < len(self.clauses):
            found.extend(self._next(found))
        return found

    def _next(self, before: list[Part]) -> list[Part]:
        clause = self.clauses[self.at]
        if clause.link == "depending" and (choice := self._switch()) is not None:
            return [choice]
        if clause.link in _CONDITIONAL and (choice := self._choice(before)) is not None:
            return [choice]
        if clause.link in {"so", "else"} and self.asked is not None:
            return [self._answered()]
        if clause.link == "else":
            return [self._when_none(before)]
        if clause.link == "whether" and (choice := self._whether()) is not None:
            return [choice]
        if self._implies_choice(clause) and (choice := self._choice(before)) is not None:
            return [choice]
        self.at += 1
        if clause.question and self._asks(clause):
            return []
        return [self._statement(clause)]

    def _statement(self, clause: Segment) -> Statement:
        return read_statement(self.reading, clause.start, clause.end, link=clause.link, question=clause.question)

    def _implies_choice(self, clause: Segment) -> bool:
        """`amounts over 500 go to finance, everything else is approved`: a condition without `if`."""
        following = self.clauses[self.at + 1] if self.at + 1 < len(self.clauses) else None
        if following is None or following.link != "else" or following.hard or clause.question:
            return False
        return not self.reading.is_action(clause.start)

    # choices by condition

    def _choice(self, before: list[Part]) -> Choice | None:
        clause = self.clauses[self.at]
        read = read_condition(self.reading, clause.start, clause.end)
        if read is None:
            return None
        cases: list[Case] = []
        while read is not None:
            cases.append(self._case(clause, *read, before=before if not cases else []))
            following = self.clauses[self.at] if self.at < len(self.clauses) else None
            if following is None or not self._goes_on(following, cases[0].condition):
                break
            clause = following
            read = read_condition(self.reading, clause.start, clause.end)
        while (further := self._further_case(cases[0])) is not None:
            cases.append(further)
        otherwise = self._otherwise_before() or self._otherwise(cases)
        return Choice(tuple(cases), otherwise, _common_subject(cases))

    def _otherwise_before(self) -> tuple[Part, ...]:
        """`... and 'other' when not`: what to do otherwise stands before the word that says so."""
        if self.otherwise_said:
            said, self.otherwise_said = self.otherwise_said, ()
            return said
        if not self._says_otherwise_first():
            return ()
        clause, following = self.clauses[self.at], self.clauses[self.at + 1]
        self.reading.claim(following.start, following.end)
        self.at += 2
        return (read_body(self.reading, clause),)

    def _goes_on(self, clause: Segment, first: Condition) -> bool:
        """Whether a further condition is the next case of the same choice."""
        if clause.link == "elseif":
            return True
        if clause.link not in {"if", "when"}:
            return False
        read = read_condition(self.reading, clause.start, clause.end)
        if read is None or read[0].column not in {"", first.column}:
            return False
        exclusive = read[0].operator == first.operator == "is" or {read[0].operator, first.operator} <= _NUMERIC
        return exclusive or self._else_follows()

    def _case(self, clause: Segment, condition: Condition, stop: int, *, before: list[Part]) -> Case:
        claim_condition(self.reading, clause.start, stop)
        stop = self._past_place(stop, clause.end)
        focus = self._focus(clause.start, stop)
        if clause.link == "unless":
            condition = _negated(condition)
        self.at += 1
        warning = self._warning(clause, before)
        if warning is not None:
            return Case(condition, (warning,), focus)
        first = self._body_rest(clause, stop)
        if before and isinstance(before[-1], Statement) and not clause.hard:
            if not first and self._ends_here(clause):
                return Case(condition, (before.pop(),), focus)
            if first and self._is_when_not():
                self.otherwise_said = tuple(first)
                self.at += 1
                return Case(condition, (before.pop(),), focus)
        body = [*first, *self._body(allow_more=True, started=bool(first))]
        if not body and before and isinstance(before[-1], Statement):
            body = [before.pop()]
        return Case(condition, tuple(body), focus)

    def _ends_here(self, clause: Segment) -> bool:
        """Whether a condition behind its statement ends the sentence, or only says besides what else to do when not."""
        if clause.hard:
            return False
        following = self.clauses[self.at] if self.at < len(self.clauses) else None
        return following is None or following.hard or self._says_otherwise_first()

    def _further_case(self, first: Case) -> Case | None:
        """`'A' if it is over 5, 'B' if it is 5`: what to do stands before its condition, again."""
        if self.at + 1 >= len(self.clauses):
            return None
        clause, following = self.clauses[self.at], self.clauses[self.at + 1]
        if (
            clause.hard
            or following.hard
            or clause.link not in {"next", "and", "colon"}
            or following.link not in {"if", "when"}
        ):
            return None
        read = read_condition(self.reading, following.start, following.end)
        if read is None or not all(self.reading.is_light(at) for at in range(read[1], following.end)):
            return None
        claim_condition(self.reading, following.start, read[1])
        self.at += 2
        condition = read[0] if read[0].column else replace(read[0], column=first.condition.column)
        return Case(condition, (read_body(self.reading, clause),))

    def _is_when_not(self) -> bool:
        """`... when not` at the end of a sentence."""
        clause = self.clauses[self.at] if self.at < len(self.clauses) else None
        return clause is not None and clause.link == "else" and clause.start == clause.end

    def _says_otherwise_first(self) -> bool:
        if self.at + 1 >= len(self.clauses):
            return False
        clause, following = self.clauses[self.at], self.clauses[self.at + 1]
        plain = not clause.hard and clause.link in {"and", "next"}
        empty = following.link == "else" and following.start == following.end
        return plain and (empty or self._is_opposite(following))

    def _is_opposite(self, clause: Segment) -> bool:
        """`if it is lower`, `if not`: no more than that the first condition does not hold."""
        words = {self.reading.tokens[at].word for at in range(clause.start, clause.end)}
        return clause.link in {"if", "when"} and bool(words & _OPPOSITES) and not words - _OPPOSITES - LIGHT_WORDS

    def _warning(self, clause: Segment, before: list[Part]) -> Statement | None:
        """`a warning when anything is AGPL`: the words before the condition are what to say."""
        last = before[-1] if before else None
        if clause.hard or not isinstance(last, Statement) or last.operations or not last.mentions:
            return None
        opening = {self.reading.tokens[at].word for at in range(last.start, last.mentions[0].start)}
        if not opening & {"a", "an", "some", "en", "ett"}:
            return None
        before.pop()
        words = self.reading.source(last.mentions[0].start, last.end)
        self.reading.claim(last.start, last.end)
        text = f"{words[:1].upper()}{words[1:]}: {self.reading.source(clause.start, clause.end)}"
        return Statement(
            (Operation("say", {"text": text, "assumed": True}, last.start, last.end),), (), last.start, last.end
        )

    def _when_none(self, before: list[Part]) -> Choice:
        """`if there are none say ..., otherwise ...`, with nothing asked before: whether there is anything."""
        clause = self.clauses[self.at]
        self.at += 1
        start = skip_subject(self.reading, clause.start, clause.end)
        body: list[Part] = [read_body(self.reading, Segment("next", start, clause.end))] if start < clause.end else []
        if not body and not clause.hard and before and isinstance(before[-1], Statement):
            last = before.pop()
            body = [last if isinstance(last, Statement) else _say("")]
        else:
            body += self._body(allow_more=True, started=bool(body))
        case = Case(Condition("empty"), tuple(body))
        return Choice((case,), self._otherwise([case]) or (_which(),))

    def _whether(self) -> Choice | None:
        """`tell me whether the text contains a number`: yes or no."""
        clause = self.clauses[self.at]
        read = read_condition(self.reading, clause.start, clause.end)
        if read is None:
            return None
        self.at += 1
        claim_condition(self.reading, clause.start, read[1])
        focus = self._focus(clause.start, self._past_place(read[1], clause.end))
        self.reading.claim(clause.start, clause.end)
        self._skip_yes_or_no()
        return Choice((Case(read[0], (_say("Yes"),), focus),), (_say("No"),))

    def _skip_yes_or_no(self) -> None:
        """Past `yes or no` behind the question."""
        words = {"yes", "no", "or", "ja", "nej", "eller"}
        while self.at < len(self.clauses):
            clause = self.clauses[self.at]
            if not {self.reading.tokens[at].word for at in range(clause.start, clause.end)} <= words:
                return
            self.reading.claim(clause.start, clause.end)
            self.at += 1

    # questions with answers behind them

    def _asks(self, clause: Segment) -> bool:
        """`Does my text mention Oslo?`, when `if so` or `otherwise` comes next."""
        following = self.clauses[self.at] if self.at < len(self.clauses) else None
        if following is None or following.link not in {"so", "else"}:
            return False
        asks = self.reading.tokens[clause.start].word in _YES_OR_NO
        start = clause.start + 1 if asks and not self._asks_there(clause) else clause.start
        read = read_condition(self.reading, start, clause.end)
        if read is None:
            return False
        self.reading.claim(clause.start, start)
        claim_condition(self.reading, start, read[1])
        self.asked = read[0]
        self._asked_focus = self._focus(clause.start, clause.end)
        return True

    def _asks_there(self, clause: Segment) -> bool:
        """`Is there ...?`, whose first words belong to the condition."""
        return clause.start + 1 < clause.end and self.reading.tokens[clause.start + 1].word in {"there", "det"}

    def _answered(self) -> Choice:
        condition = self.asked
        assert condition is not None  # noqa: S101 - the caller checked
        self.asked = None
        yes: list[Part] = []
        no: list[Part] = []
        while self.at < len(self.clauses) and self.clauses[self.at].link in {"so", "else"}:
            clause = self.clauses[self.at]
            self.at += 1
            branch = yes if clause.link == "so" else no
            branch.append(read_body(self.reading, clause))
            branch.extend(self._body(allow_more=True, started=True))
        return Choice((Case(condition, tuple(yes), self._asked_focus),), tuple(no))

    # choices by value

    def _switch(self) -> Choice | None:
        """`depending on the department: for sales ..., for support ..., otherwise ...`."""
        start = self.at
        clause = self.clauses[start]
        at = skip_light(self.reading, clause.start, clause.end, 3)
        subject = column_at(self.reading, at, clause.end)
        self.at += 1
        cases: list[Case] = []
        focus = None
        while self.at < len(self.clauses) and (named := self._case_name(self.clauses[self.at])) is not None:
            value, stop = named
            case_clause = self.clauses[self.at]
            self.reading.claim(case_clause.start, stop)
            self.at += 1
            body: list[Part] = [*self._body_rest(case_clause, stop)]
            body = body or self._body(allow_more=False, started=False)
            cases.append(Case(Condition("is", value, column=subject[0] if subject else ""), tuple(body)))
        if not cases:
            self.at = start
            return None
        if subject is not None:
            self.reading.claim(at, subject[1])
        focus = self._focus(clause.start, clause.end)
        cases[0] = Case(cases[0].condition, cases[0].body, focus)
        return Choice(tuple(cases), self._otherwise(cases), subject[0] if subject else "")

    def _case_name(self, clause: Segment) -> tuple[str, int] | None:
        """The value a case is for: `for sales`, `if it is Norway`, `sales:`."""
        if clause.link in {"else", "join"}:
            return None
        at = clause.start
        mark = self.reading.mark(at, "p.for")
        named = mark is not None or clause.link in {"if", "when", "colon", "next"}
        at = mark.end if mark is not None else at
        while at < clause.end and self.reading.is_light(at):
            at += 1
        if not named or at >= clause.end or (mark is None and self.reading.is_action(at)):
            return None
        read = value_at(self.reading, at, clause.end)
        literal = read is not None and self.reading.tokens[at].kind in {Kind.WORD, Kind.QUOTED, Kind.NUMBER}
        return (str(read[0]), read[1]) if read is not None and literal else None


def _which() -> Statement:
    return Statement((Operation("which"),), (), 0, 0)


def _say(text: str) -> Statement:
    return Statement((Operation("say", {"text": text}),), (), 0, 0)


def _negated(condition: Condition) -> Condition:
    return replace(condition, negated=not condition.negated)


def _common_subject(cases: Sequence[Case]) -> str:
    """The column that all cases compare for equality; empty when they differ."""
    first = cases[0].condition
    plain = all(
        case.condition.operator == "is" and not case.condition.negated and not case.condition.others for case in cases
    )
    return first.column if plain and len(cases) > 1 else ""
