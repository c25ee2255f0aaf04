"""What a clause works on: addresses, the form, files, texts, packages, and things to derive from them."""

from collections.abc import Iterator

from headgate.agents.assistant.offline.grammar import slots
from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.mentions import is_definite
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.agents.assistant.offline.language.lexicon import Mark
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_ABOUT = word_set("for about from regarding concerning om för från")
_NOT_DESCRIBING = word_set("long short longer shorter odd even middle random whole")
_METHODS = word_set("get post put patch delete head")
_WEB_SERVICE = word_set("api endpoint json rest service webservice")
_WEBHOOK = frozenset(["webhook", "hook", "callback", "endpoint"])
_OWN = word_set("my i input paste pasted type typed enter whatever user given min mitt jag")
_ZONES = {
    place: zone
    for zone, places in (
        ("Europe/Stockholm", "stockholm, sweden"),
        ("Europe/London", "london"),
        ("Europe/Paris", "paris"),
        ("Europe/Berlin", "berlin"),
        ("Europe/Oslo", "oslo"),
        ("Europe/Copenhagen", "copenhagen"),
        ("Europe/Helsinki", "helsinki"),
        ("Asia/Tokyo", "tokyo"),
        ("UTC", "utc, gmt"),
        ("America/New_York", "new york"),
        ("America/Los_Angeles", "los angeles"),
        ("America/Chicago", "chicago"),
        ("Australia/Sydney", "sydney"),
        ("Asia/Singapore", "singapore"),
        ("Asia/Kolkata", "delhi"),
        ("Europe/Madrid", "madrid"),
        ("Europe/Rome", "rome"),
        ("Europe/Amsterdam", "amsterdam"),
    )
    for place in places.split(", ")
}
"""Time zones by the places people name."""


def read_things(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """The sources and derivations of a clause, and model work; claims their words."""
    yield from _model(reading, start, end)
    yield from _form_fields(reading, start, end)
    yield from _addresses(reading, start, end)
    yield from _said(reading, start, end)
    yield from _paths(reading, start, end)
    yield from _json(reading, start, end)
    yield from _dates(reading, start, end)
    yield from _derived(reading, start, end)
    yield from _sources(reading, start, end)


def _model(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """Work that takes judgement: the clause itself becomes the instruction."""
    mark = next((m for m in reading.find_all(start, end, "m.") if reading.is_action(m.start)), None) or reading.find(
        start, end, "mn."
    )
    if mark is None or mark.start in reading.used:
        return
    instruction = reading.source(start, end)
    kept = [
        at
        for at in range(start, end)
        if reading.mark(at, "s.") is not None or reading.tokens[at].kind in {Kind.URL, Kind.FILE}
    ]
    for at in range(start, end):
        if at not in kept:
            reading.claim(at, at + 1)
    yield Operation("model", {"sense": mark.sense, "instruction": instruction}, mark.start, end)


def _form_fields(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """`name and email from the form`, `a form with name and email`."""
    form = reading.find(start, end, "s.form")
    if form is None:
        return
    reading.claim(form.start, form.end)
    spans = (_fields_before(reading, start, form.start), _fields_after(reading, form.end, end))
    fields: list[str] = []
    for span in spans:
        if span is not None and not fields:
            fields, first, stop = span
            reading.claim(first, stop)
    yield Operation("source", {"sense": "s.form", "fields": fields}, form.start, form.end)


def _fields_before(reading: Reading, start: int, form: int) -> tuple[list[str], int, int] | None:
    """Columns with only `from the` between them and the form."""
    for at in range(start, form):
        read = slots.columns_at(reading, at, form) if at not in reading.used else None
        if (
            read is not None
            and reading.mark(read[1], "p.from") is not None
            and all(reading.is_light(n) for n in range(read[1], form))
        ):
            return read[0], at, read[1]
    return None


def _fields_after(reading: Reading, form: int, end: int) -> tuple[list[str], int, int] | None:
    after = form
    while after < end and (reading.is_light(after) or reading.tokens[after].kind in {Kind.COMMA, Kind.SYMBOL}):
        after += 1
    read = slots.columns_at(reading, after, end) if after < end and after not in reading.used else None
    return (
        (read[0], after, read[1])
        if read is not None and (after > form or reading.mark(after, "n.column") is not None)
        else None
    )


def _addresses(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    words = {reading.tokens[at].word for at in range(start, end)}
    for at in range(start, end):
        token = reading.tokens[at]
        if token.kind is not Kind.URL or at in reading.used:
            continue
        reading.claim(at, at + 1)
        _claim_page_words(reading, start, at)
        method = _method_before(reading, start)
        if _sends_there(reading, start, at, method):
            reading.claim(start, start + 1)
            for n in range(start, at):
                if reading.mark(n, "s.", "t.", "u.", "ref.", "n.column", "f.") is None:
                    reading.claim(n, n + 1)
            yield Operation("send", {"url": token.value}, at, at + 1)
        else:
            named = "/api" in token.word or "//api." in token.word or token.word.endswith(".json")
            service = bool(words & _WEB_SERVICE) or bool(method) or named
            slots_ = {"sense": "s.url", "url": token.value, "method": method.upper(), "service": service}
            yield Operation("source", slots_, at, at + 1)


def _method_before(reading: Reading, start: int) -> str:
    """The HTTP method a clause begins with; `get` only in capitals, for it is an everyday word."""
    first = reading.tokens[start]
    return next((word for word in _METHODS if first.word == word and (word != "get" or first.text == "GET")), "")


def _sends_there(reading: Reading, start: int, at: int, method: str) -> bool:
    """Whether the words before an address say that something goes to it."""
    before = {reading.tokens[n].word for n in range(start, at)}
    webhook = bool(before & _WEBHOOK)
    sends = reading.find(start, at, "v.send") is not None or webhook
    to = reading.mark(at - 1, "p.to") is not None or webhook or method == "post" or bool(before & {"notify", "ping"})
    return sends and to and method in {"", "post"}


def _claim_page_words(reading: Reading, start: int, at: int) -> None:
    """`the page https://...`: the noun only announces the address."""
    for n in range(max(start, at - 4), at):
        if reading.mark(n, "s.page", "t.url", "s.text") is not None and n not in reading.used:
            reading.claim(n, n + 1)


def _said(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """Text in quotes: something to say, or a fixed text to work on."""
    for at in range(start, end):
        token = reading.tokens[at]
        if token.kind is not Kind.QUOTED or at in reading.used:
            continue
        reading.claim(at, at + 1)
        noun = reading.mark(at - 1, "s.text") if at > start else None
        verb = next(
            (
                m
                for n in range(at - 1, start - 1, -1)
                if (m := reading.mark(n, "v.say", "v.greet", "v.show")) is not None and reading.is_action(n)
            ),
            None,
        )
        if noun is not None:
            reading.claim(noun.start, noun.end)
        if verb is not None and noun is None:
            reading.claim(verb.start, verb.end)
        fills = "{" in str(token.value) and "}" in str(token.value)
        name = "say" if verb is not None or fills else "literal"
        yield Operation(name, {"text": token.value}, at, at + 1)


def _paths(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """Dotted or snake-case names pick out of data: `results[0].name`."""
    for at in range(start, end):
        token = reading.tokens[at]
        if token.kind is Kind.PATH and at not in reading.used and "{" not in token.text:
            reading.claim(at, at + 1)
            yield Operation("pick", {"expression": token.text}, at, at + 1)


def _json(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    mark = reading.find(start, end, "f.json")
    if mark is not None and mark.start not in reading.used:
        reading.claim(mark.start, mark.end)
        yield Operation("json", {}, mark.start, mark.end)
    for at in range(start, end - 1):
        word = reading.tokens[at].word
        if (
            word in {"field", "key", "property", "attribute", "fältet"}
            and at + 1 not in reading.used
            and reading.mark(at + 1, "n.column") is not None
        ):
            reading.claim(at, at + 2)
            yield Operation("pick", {"expression": reading.tokens[at + 1].text, "soft": True}, at, at + 2)


def _dates(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    mark = reading.find(start, end, "s.now")
    if mark is None or mark.start in reading.used:
        return
    reading.claim(mark.start, mark.end)
    zone = ""
    for at in range(start, end):
        token = reading.tokens[at]
        two = reading.source(at, min(at + 2, end)).lower()
        if "/" in token.text and token.text.partition("/")[0] in {
            "Europe",
            "America",
            "Asia",
            "Africa",
            "Australia",
            "Pacific",
        }:
            zone = token.text
            reading.claim(at, at + 1)
        elif token.word in _ZONES or two in _ZONES:
            zone = _ZONES.get(token.word) or _ZONES[two]
            reading.claim(at, at + (1 if token.word in _ZONES else 2))
    yield Operation("date", {"zone": zone}, mark.start, mark.end)


def _derived(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """Things found inside a text: `every email address`, `the lines`."""
    at = start
    while at < end:
        mark = reading.mark(at, "t.", "u.") if at not in reading.used else None
        if mark is None or _only_column(reading, mark):
            at += 1
            continue
        if _is_sum_up(reading, mark):
            reading.claim(mark.start, mark.end)
            at = mark.end
            continue
        reading.claim(mark.start, mark.end)
        yield from _described(reading, start, end, mark)
        slots_ = {
            "sense": mark.sense,
            "definite": is_definite(reading, mark.start),
            "plural": _is_plural(reading, mark),
        }
        yield Operation("derive", slots_, mark.start, mark.end)
        at = mark.end


def _described(reading: Reading, start: int, end: int, mark: Mark) -> Iterator[Operation]:
    """`error lines`, `rows for Sweden`: a word beside a unit says what it must hold."""
    if mark.sense not in {"u.line", "u.sentence", "u.paragraph", "u.part"}:
        return
    before = mark.start - 1
    if before >= start and _is_plain_word(reading, before) and reading.tokens[before].word not in _NOT_DESCRIBING:
        reading.claim(before, mark.start)
        yield _holding(reading, before, mark.start)
    after = mark.end + 1
    if after < end and reading.tokens[mark.end].word in _ABOUT and _is_plain_word(reading, after):
        stop = after + 1
        while stop < end and _is_plain_word(reading, stop) and reading.tokens[stop].text[:1].isupper():
            stop += 1
        reading.claim(mark.end, stop)
        yield _holding(reading, after, stop)


def _holding(reading: Reading, start: int, end: int) -> Operation:
    token = reading.tokens[start]
    value = str(token.value) if token.kind is Kind.QUOTED else reading.source(start, end)
    exact = token.kind is Kind.QUOTED or value != value.lower()
    return Operation("filter", {"condition": Condition("contains", value, exact=exact), "keep": True}, start, end)


def _is_plain_word(reading: Reading, at: int) -> bool:
    """A word the vocabulary does not know, or one in quotes."""
    token = reading.tokens[at]
    if at in reading.used:
        return False
    unknown = not reading.within(at, "") and not reading.is_light(at)
    return token.kind is Kind.QUOTED or (token.kind is Kind.WORD and unknown)


def _is_sum_up(reading: Reading, mark: Mark) -> bool:
    """`both figures`, `the two numbers`: the results before, not numbers in a text; `a single line`: what is made."""
    before = reading.tokens[mark.start - 1].word if mark.start else ""
    if mark.sense == "t.number":
        return before in {"both", "two", "three", "these", "båda"}
    return (
        before in {"single", "one"} and mark.start > 1 and reading.mark(mark.start - 2, "d.det", "p.into") is not None
    )


def _only_column(reading: Reading, mark: Mark) -> bool:
    """A word such as `name` or `year` that is no thing to look for unless somebody says to find it."""
    word = reading.tokens[mark.start].word
    return (
        reading.mark(mark.start, "n.column") is not None
        and not word.endswith(("s", "mail", "er", "en", "a"))
        and mark.end - mark.start == 1
    )


def _is_plural(reading: Reading, mark: Mark) -> bool:
    last = reading.tokens[mark.end - 1].word
    return last.endswith(("s", "or", "ar", "er", "na", "en"))


def _sources(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    marks = [mark for mark in reading.find_all(start, end, "s.") if mark.start not in reading.used]
    named = (
        any(mark.sense in {"s.file", "s.page", "s.packages"} for mark in marks)
        or reading.find(start, end, "s.form") is not None
    )
    for mark in marks:
        if mark.start in reading.used or (
            reading.is_action(mark.start) and mark.end - mark.start == 1 and mark.sense == "s.text"
        ):
            continue
        reading.claim(mark.start, mark.end)
        _claim_formats(reading, start, end, mark)
        _claim_name(reading, start, mark)
        if mark.sense == "s.text" and named and not _is_own(reading, mark):
            continue
        yield Operation(
            "source",
            {
                "sense": mark.sense,
                "own": _is_own(reading, mark),
                "definite": is_definite(reading, mark.start),
                "word": reading.tokens[mark.end - 1].word,
            },
            mark.start,
            mark.end,
        )


def _claim_name(reading: Reading, start: int, source: Mark) -> None:
    """`the timesheet I upload`: a word that nothing else knows is what the file is called."""
    at = source.start - 1
    if at >= start and reading.tokens[at + 1].word in _OWN | {"we", "they"}:
        named = _is_plain_word(reading, at) and (at == start or reading.mark(at - 1, "d.det") is not None)
        reading.claim(at, at + 1 if named else at)


def _claim_formats(reading: Reading, start: int, end: int, source: Mark) -> None:
    """`the csv I upload`: the format only says what kind of file it is."""
    for mark in reading.find_all(start, end, "f.csv", "f.json", "f.text", "f.unsupported"):
        if source.sense == "s.file" and mark.start not in reading.used:
            reading.claim(mark.start, mark.end)


def _is_own(reading: Reading, mark: Mark) -> bool:
    """Whether it is said to come from the user: `my text`, `what I type`, `the uploaded file`."""
    around = {reading.tokens[at].word for at in range(max(0, mark.start - 1), min(len(reading), mark.end + 3))}
    return bool(around & (_OWN | {"uploaded", "upload", "attached", "attachment"}))
