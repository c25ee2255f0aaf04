"""`If ... say ..., otherwise say ...`: the cases of a decision, as they are worded."""

import re
from dataclasses import dataclass

from headgate.agents.assistant.offline.language.files import classes
from headgate.agents.assistant.offline.language.languages import LIGHT, Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.comparing import read_condition
from headgate.agents.assistant.offline.reading.conditions import Condition, Test
from headgate.agents.assistant.offline.reading.slots import READERS, Context


@dataclass(frozen=True, slots=True)
class Case:
    """What is answered when a comparison holds."""

    test: Test
    answer: str


@dataclass(frozen=True, slots=True)
class Choices:
    """The cases in their order, and what is answered where none holds; empty: nothing."""

    cases: tuple[Case, ...]
    otherwise: str

    def describe(self, language: Language) -> str:
        """The decision in words."""
        words = {"en": ("if {} answer '{}'", "otherwise answer '{}'", "otherwise nothing"),
                 "sv": ("om {} svara '{}'", "annars svara '{}'", "annars ingenting")}[language]  # fmt: skip
        subject = message("text", language)
        parts = [
            words[0].format(
                case.test.describe(language) if case.test.column else f"{subject} {case.test.describe(language)}",
                case.answer,
            )
            for case in self.cases
        ]
        return "; ".join([*parts, words[1].format(self.otherwise) if self.otherwise else words[2]])

    @property
    def fields(self) -> tuple[str, ...]:
        """The form fields that it decides on."""
        return tuple(dict.fromkeys(case.test.column for case in self.cases if case.test.column))


_IF = {"en": "(?:if|when|whenever)", "sv": "(?:om|när)"}
_SUBJECTS = {
    "en": re.compile(r"^(?:there are |(?:message|text|it|input|mail|request|answer|what i type|form|number|uploaded file|file|document|log) )"),  # noqa: E501
    "sv": re.compile(r"^(?:det finns |(?:meddelandet|texten|text|det|svaret|formuläret|filen|dokumentet) )"),
}  # fmt: skip
_IN_FORM = re.compile(r" (?:in form|from form|of form|on form|form field|field|i formuläret|i formulär)(?= |$)")


def _read(context: Context, words: str) -> Choices | None:
    language = context.language
    say = "(?:" + "|".join(f"{re.escape(word)} " for word in classes(language)["say"]) + r")(?:with )?(?::? ?)?"
    other = "(?:" + "|".join(map(re.escape, classes(language)["else"])) + r") (?:, )?"
    line = f"{words} "
    first = re.compile(
        rf"{_IF[language]} (?P<c>.+?) (?:, |then |; )*{say}(?P<a>.+?) (?:(?:, |; |and |och )*{other}(?:{say})?(?P<b>.+?) )?"  # noqa: E501
    )
    match = first.fullmatch(line)
    cases = _several(context, line, say, other)
    if cases is not None:
        return cases
    if match is not None:
        return _choices(context, [(match["c"], match["a"])], match["b"] or "")
    return None


def _several(context: Context, line: str, say: str, other: str) -> Choices | None:
    """`say A when ..., B when ..., and C otherwise`; also `if ... say A, if ... say B, otherwise C`."""
    condition, comma = _IF[context.language], r"(?:, |; |and |och )+"
    late = re.compile(rf"(?:{say})?(?P<a>.+?) {condition} (?P<c>.+?) ")
    early = re.compile(rf"{condition} (?P<c>.+?) (?:, )?{say}(?P<a>.+?) ")
    last_late = re.compile(
        rf"(?:{say})?(?P<b>‹q\d+›|.+?) (?:, )?{other.replace('(?:, )?', '')}|{other}(?:{say})?(?P<b2>.+?) "
    )
    parts = re.split(rf"(?<= ){comma}", line)
    if len(parts) < 2:
        return None
    ends = last_late.fullmatch(parts[-1])
    pairs = []
    for part in parts[:-1] if ends is not None else parts:
        match = early.fullmatch(part) or late.fullmatch(part)
        if match is None:
            return None
        pairs.append((match["c"], match["a"]))
    return _choices(context, pairs, (ends["b"] or ends["b2"] or "") if ends is not None else "")


def _choices(context: Context, pairs: list[tuple[str, str]], otherwise: str) -> Choices | None:
    cases = []
    for condition_text, answer in pairs:
        condition, text = _condition(context, condition_text), _answer(context, answer)
        if condition is None or len(condition.tests) != 1 or text is None:
            return None
        cases.append(Case(condition.tests[0], text))
    last = _answer(context, otherwise) if otherwise else ""
    return Choices(tuple(cases), last) if last is not None else None


_VERBS = {
    language: frozenset(
        phrase.split()[0]
        for name in (
            "keep",
            "drop",
            "sort",
            "save",
            "mask",
            "extract",
            "replace",
            "count",
            "fetch",
            "make",
            "join",
            "add",
        )
        for phrase in classes(language)[name]
    )
    | {"split", "number", "wait", "run", "show", "dela", "vänta", "kör", "visa", "translate", "summarise"}
    - {"only", "just", "need"}
    for language in LIGHT
}
"""Words that begin something to do: no answer that is not quoted begins with one."""
_STOP = re.compile(
    r"(?:^| )(?:, |; )?(?:and|then|save|store|put|write|och|spara|or|if|when|om|otherwise|annars|not)(?= |$)"
)


def _answer(context: Context, words: str) -> str | None:
    """The text of an answer: quoted, or a few words."""
    words = words.strip(" ,;")
    if re.fullmatch(r"‹q\d+›", words):
        return context.tokens.literal(words)
    if _STOP.search(words) or "‹" in words or "," in words or not 1 <= len(words.split()) <= 4:
        return None
    if words.split()[0] in _VERBS[context.language]:
        return None
    return context.plain(words)


def _condition(context: Context, words: str) -> Condition | None:
    words = words.strip(" ,;")
    if _IN_FORM.search(words):
        return read_condition(context, _IN_FORM.sub("", words))
    plain = _SUBJECTS[context.language].sub("", words, count=1)
    condition = read_condition(context, plain)
    if condition is None or condition.tests[0].column.startswith("?"):
        condition = read_condition(context, words)
    return condition


READERS["choices"] = _read
