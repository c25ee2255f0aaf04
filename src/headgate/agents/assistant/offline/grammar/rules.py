"""The phrases of the offline builder, as data: operation, pattern and the slots a pattern fixes.

Order matters: what stands first takes its words first, so exact phrases come before loose ones.
"""

from functools import lru_cache
from typing import Any

from headgate.agents.assistant.offline.grammar import slots
from headgate.agents.assistant.offline.grammar.pattern import Pattern, SlotReader, compile_pattern
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

STAGES = {
    name: stage
    for stage, names in enumerate(
        (
            "source fields calculate date",
            "json",
            "derive split",
            "filter blank",
            "replace mask strip case pick",
            "dedupe arithmetic",
            "count tally frequent aggregate group model",
            "reverse superlative sort",
            "limit",
            "columns listed",
            "number bullets prefix",
            "join combine heading",
            "wait say",
            "save send",
            "show",
        )
    )
    for name in names.split()
}
"""Where an operation stands in a clause that says several, whatever their order in the words."""

_RULES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("wait", "@v.wait <seconds:duration>", {}),
    ("wait", "<seconds:duration> @*v.wait", {}),
    ("wait", "@*v.wait <seconds:duration>", {}),
    ("wait", "'give' 'it'|'them'|'that' <seconds:duration>", {}),
    ("wait", "@v.wait 'moment'|'bit'|'while'|'little'|'stund'|'lite'", {"seconds": 1}),
    ("calculate", "@v.calculate? <expression:formula>", {}),
    ("calculate", "@v.calculate? <percent:number> '%'|'percent'|'procent' <of:number>", {}),
    ("calculate", "@v.calculate? <first:number> @*v.multiply|v.plus|v.minus|v.divide#sign <second:number>", {}),
    ("calculate", "@v.plus <first:number> @l.and|p.to|p.with <second:number>", {"sign": "v.plus"}),
    ("calculate", "@v.multiply <first:number> @l.and|p.by|p.with <second:number>", {"sign": "v.multiply"}),
    ("calculate", "@v.divide <first:number> @p.by|p.with <second:number>", {"sign": "v.divide"}),
    ("calculate", "@v.minus <second:number> 'from' <first:number>", {"sign": "v.minus"}),
    ("arithmetic", "@*v.multiply <left:operand> <right:operand>", {"sign": "*"}),
    ("arithmetic", "<left:operand> 'times'|'x'|'*'|'gånger' <right:operand>", {"sign": "*"}),
    ("arithmetic", "<left:operand> 'multiplied' 'by'|'with' <right:operand>", {"sign": "*"}),
    ("arithmetic", "@*v.divide <left:operand> <right:operand>", {"sign": "/"}),
    ("arithmetic", "<left:operand> 'divided' 'by' <right:operand>", {"sign": "/"}),
    ("arithmetic", "<left:operand> 'plus'|'+' <right:operand>", {"sign": "+"}),
    ("arithmetic", "<left:operand> 'minus' <right:operand>", {"sign": "-"}),
    ("arithmetic", "'subtract'|'deduct' <right:operand> 'from' <left:operand>", {"sign": "-"}),
    ("arithmetic", "'difference' 'between' <left:operand> @l.and <right:operand>", {"sign": "-"}),
    ("arithmetic", "<percent:number> '%'|'percent'|'procent' <left:operand>", {"sign": "%"}),
    ("arithmetic", "@v.multiply", {"sign": "*"}),
    ("arithmetic", "@v.divide", {"sign": "/"}),
    (
        "replace",
        "@v.replace @a.count? <old:replaced> ~ 'with'|'by'|'for'|'into'|'to'|'med'|'mot' <new:replacement>",
        {},
    ),
    ("replace", "@l.and <old:replaced> 'with'|'by'|'for'|'to'|'med' <new:quoted>", {}),
    ("replace", "@v.convert <old:quoted> @s.|ref.? @p.into|p.to <new:quoted>", {}),
    ("mask", "@*v.mask @a.count? <what:targets>", {}),
    ("mask", "<what:targets> @*v.mask", {}),
    ("mask", "@v.mask <what:replaced>", {}),
    ("blank", "@*v.drop @t.blank", {}),
    ("blank", "@c.empty @t.blank", {}),
    ("dedupe", "@*v.dedupe", {}),
    (
        "dedupe",
        "@*v.drop|v.extract 'duplicate'|'duplicates'|'duplicated'|'repeated'|'repeats'|'doubles'|'dupes'|'dubbletter'",
        {},
    ),
    ("dedupe", "'duplicate'|'duplicates'|'repeats'|'dupes' @*v.drop", {}),
    ("dedupe", "@c.empty|c.not 'duplicate'|'duplicates'|'repeats'|'dupes'|'dubbletter'", {}),
    ("strip", "@v.drop @a.count? <what:targets>", {}),
    ("strip", "@v.drop <text:quoted>", {}),
    ("join", "'separated'|'delimited'|'divided'|'åtskilda' @p.with|p.by <separator>", {"passive": True}),
    ("split", "@*v.split @s.|ref.? 'every'|'each'|'var' <size:number> @!u.character", {}),
    ("split", "@*v.split @s.|ref.? @p.into? @!u.part <size:number> @!u.character", {}),
    ("split", "@*v.split @s.|ref.? <size:number> @!u.character @!u.part?", {}),
    ("split", "@*v.split @s.|ref.? @p.at|p.into? <unit:separator_unit>", {}),
    ("split", "@*v.split @s.|ref.? @p.at|p.with <separator>", {}),
    ("split", "@*v.split @s.|ref.? @p.into <unit:units>", {}),
    ("split", "@*v.split ~ @p.at <separator:sign>", {}),
    ("split", "'line' 'by' 'line'", {"unit": ["u.line"]}),
    ("split", "'sentence' 'by' 'sentence'", {"unit": ["u.sentence"]}),
    ("split", "'paragraph' 'by' 'paragraph'", {"unit": ["u.paragraph"]}),
    ("split", "'rad' 'för' 'rad'", {"unit": ["u.line"]}),
    ("prefix", "@v.convert|d.helper @u.|ref.many @s.? @c.starts <prefix:separator>", {}),
    ("prefix", "'prefix'|'prepend' @u.|ref.? @p.with? <prefix:separator>", {}),
    ("prefix", "@v.save|e.add|v.plus <prefix:separator> @l.before @u.|ref.", {}),
    ("number", "@v.number", {}),
    ("number", "@f.numbered", {}),
    ("bullets", "@v.bullet", {}),
    ("bullets", "@f.bullets", {}),
    ("heading", "'heading'|'title'|'titled'|'headline'|'header'|'rubrik'|'rubriken' <text:value>", {}),
    ("join", "@v.join|v.combine @ref.? @p.with|p.by|p.at <separator>", {}),
    ("join", "@p.as|p.into <separator:separator_name> 'separated'|'delimited'", {}),
    ("split", "<separator:separator_name> 'separated'|'delimited'", {}),
    ("join", "'one' ~ 'per' 'line'|'row'|'rad'", {"separator": "\n"}),
    (
        "join",
        "'on'|'in'|'onto' 'its'|'a'|'their'|'an'? 'own'|'separate'|'new'|'different' 'line'|'lines'|'row'",
        {"separator": "\n"},
    ),
    ("join", "'separate'|'own' 'lines'", {"separator": "\n"}),
    ("reverse", "@v.reverse", {}),
    ("count", "'how' 'long' ~ @p.into @=u.", {"verb": True}),
    ("tally", "@v.count? @a.count 'each'|'every'|'varje' @=u.|t.", {}),
    (
        "unsupported",
        "@v.convert ~ 'to'|'into'|'as' 'word'|'powerpoint'|'excel'",
        {"sense": "f.unsupported", "word": "word"},
    ),
    ("case", "@*v.upper", {"to": "upper"}),
    ("case", "@*v.lower", {"to": "lower"}),
    ("limit", "@=u.line <from:number> @p.to|p.into <n:number>", {"which": "first"}),
    ("limit", "<which:ends_of_list> <n:number>", {}),
    ("limit", "<n:number> <which:ends_of_list> @u.", {}),
    ("limit", "@q.what <n:number>", {"which": "first"}),
    ("frequent", "<n:number>? @o.frequent <n:number>? <by:plain_column>?", {}),
    ("frequent", "<n:number>? @o.rare <n:number>? <by:plain_column>?", {"rare": True}),
    ("combine", "'on' 'top' 'of'", {"first": True}),
    ("combine", "@o.desc 'of'", {"first": True}),
    ("combine", "'in' 'front' 'of'", {"first": True}),
    ("sort", "@o.desc", {"descending": True}),
    ("sort", "@o.asc", {"descending": False}),
    ("aggregate", "@a.min|a.max#function <column:plain_column> @=p.per", {}),
    ("superlative", "<n:number>? @o.most <n:number>? <by:plain_column>?", {}),
    ("superlative", "<n:number>? @o.least <n:number>? <by:plain_column>?", {"least": True}),
    ("limit", "<which:ends_of_list> @u.|t.", {"n": 1}),
    ("sort", "@*v.sort ~ @p.sorted <by:order_column>", {}),
    ("sort", "@*v.sort <by:plain_column>", {}),
    ("sort", "@v.sort", {}),
    ("group", "<by:columns> 'with'|'and'|'plus' 'counts'|'frequencies'|'totals'", {}),
    ("tally", "@=u.|t. +'frequency'|'frequencies'|'frekvens'", {}),
    ("tally", "@a.count|v.count 'occurrences'|'occurrence'|'frequency'? 'each'|'every'|'varje'", {}),
    ("tally", "@a.count 'each'|'every' @=u.|t.|n.column", {}),
    ("tally", "@v.count 'occurrences'|'repetitions'|'förekomster'", {}),
    ("combine", "'above'|'prepend'", {"first": True}),
    ("combine", "'append'|'below'|'underneath'", {}),
    ("combine", "@v.combine", {}),
    ("combine", "'together'|'ihop'|'samman'", {}),
    ("join", "@v.join", {}),
    ("count", "@v.count @a.count?", {"verb": True}),
    ("aggregate", "@v.sum|v.avg#function 'column'|'kolumnen' <column>", {}),
    ("aggregate", "@v.sum|v.avg#function <column:plain_column>", {}),
    ("aggregate", "@a.sum|a.avg|a.min|a.max#function @*a.sum|v.sum|a.count? <column:plain_column>", {}),
    ("aggregate", "@v.sum|v.avg#function", {}),
    ("aggregate", "@a.sum|a.avg|a.min|a.max#function", {}),
    ("count", "@=u.|t. +'count'|'counts'", {}),
    ("count", "@a.count", {}),
    ("group", "@*v.group ~ @p.by <by:columns>", {}),
    ("group", "@v.group <by:columns>", {}),
    ("listed", "@l.and|l.also|p.with|c.contains 'list'|'items'|'themselves'", {}),
    ("columns", "@p.with|c.contains|p.of <columns:several_columns>", {}),
    ("columns", "'column'|'columns'|'kolumn'|'kolumnen'|'kolumnerna' <columns>", {}),
    ("columns", "<columns> 'column'|'columns'|'kolumn'|'kolumnen'|'kolumnerna'", {}),
    (
        "columns",
        "@p.with|c.contains|l.and|l.also|p.into 'their'|'its'|'deras'|'dess' <columns:named_columns>",
        {"beside": True},
    ),
    ("columns", "'their'|'its'|'deras'|'dess' <columns:named_columns>", {}),
)


def _literal(kind: Kind) -> SlotReader:
    def read(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
        token = reading.tokens[at] if at < end else None
        return (token.value, at + 1) if token is not None and token.kind is kind else None

    return read


def _ends_of_list(reading: Reading, at: int, end: int) -> tuple[str, int] | None:
    mark = reading.mark(at, "o.first", "o.last")
    if mark is None or mark.end > end:
        return None
    return ("first" if mark.sense == "o.first" else "last"), mark.end


def _operand(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """A number or a field of the form, for sums written in words."""
    number = slots.number_at(reading, at, end) if reading.tokens[at].kind is Kind.NUMBER else None
    if number is not None:
        return number
    return (
        slots.column_at(reading, at, end)
        if reading.mark(at, "u.", "s.", "t.") is None or reading.mark(at, "n.column")
        else None
    )


def _named_columns(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """Columns that are no units: `their names`, not `its rows`."""
    return slots.columns_at(reading, at, end) if reading.mark(at, "u.") is None else None


def _several_columns(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """Two or more known columns side by side: `name, version and licence`."""
    found = slots.columns_at(reading, at, end) if reading.mark(at, "n.column") is not None else None
    return found if found is not None and len(found[0]) > 1 else None


def _separator_unit(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """A unit that is no sign: `into sentences`, but `at spaces` is a separator."""
    return slots.senses_at(reading, at, end, "u.line", "u.sentence", "u.paragraph", "u.word")


def _replacement(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """What is put in its place: a sign by its name, or a text."""
    named = slots.separator_at(reading, at, end) if reading.mark(at, "separator") is not None else None
    return named or slots.value_at(reading, slots.skip_light(reading, at, end, 3, keep_literals=True), end)


def _plain_column(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """A column that is no thing to derive: `sort price`, not `sort the lines`."""
    return slots.column_at(reading, at, end) if reading.mark(at, "t.", "u.", "s.") is None else None


def _sign(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """A separator in quotes or by a name that means nothing else."""
    quoted = reading.tokens[at].kind is Kind.QUOTED if at < end else False
    return slots.separator_at(reading, at, end) if quoted else _separator_name(reading, at, end) if at < end else None


def _separator_name(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    sign = reading.tokens[at].kind is Kind.WORD and reading.tokens[at].word not in _NO_SIGNS
    return slots.separator_at(reading, at, end) if sign else None


def _replaced(reading: Reading, at: int, end: int) -> tuple[object, int] | None:
    """What is to be replaced: a kind of thing (as senses) or a text."""
    at = slots.skip_light(reading, at, end, 3)
    senses = slots.senses_at(reading, at, end, "t.")
    named = slots.separator_at(reading, at, end) if reading.mark(at, "separator") is not None else None
    if named is not None and reading.tokens[at].word not in _NO_SIGNS:
        return named
    return (
        senses
        if senses is not None
        else slots.value_at(reading, slots.skip_light(reading, at, end, 3, keep_literals=True), end)
    )


_NO_SIGNS = word_set("line rule star bar hash arrow nothing punkt tag")
"""Names of signs that more often mean something else."""

READERS: dict[str, SlotReader] = {
    "number": slots.number_at,
    "duration": slots.duration_at,
    "separator": slots.separator_at,
    "separator_name": _separator_name,
    "sign": _sign,
    "separator_unit": _separator_unit,
    "value": slots.value_at,
    "replaced": _replaced,
    "replacement": _replacement,
    "column": slots.column_at,
    "columns": slots.columns_at,
    "order_column": slots.order_column_at,
    "plain_column": _plain_column,
    "several_columns": _several_columns,
    "named_columns": _named_columns,
    "operand": _operand,
    "targets": lambda reading, at, end: slots.senses_at(reading, at, end, "t."),
    "units": lambda reading, at, end: slots.senses_at(reading, at, end, "u."),
    "quoted": _literal(Kind.QUOTED),
    "formula": _literal(Kind.FORMULA),
    "ends_of_list": _ends_of_list,
}


EXACT = word_set(
    "wait tally reverse calculate arithmetic replace mask blank dedupe strip split prefix heading join number bullets"
)
"""Operations whose phrases are read before conditions, whose words they share (`join with`, `start with`)."""


@lru_cache(maxsize=1)
def rules() -> tuple[Pattern, ...]:
    """The compiled phrases, in order."""
    return tuple(compile_pattern(operation, text, **fixed) for operation, text, fixed in _RULES)
