"""What the tokens of a slot mean: a reader for each type of slot. None refuses the tokens."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.agents.assistant.offline.language.files import classes, pairs, values
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.reading import kinds, units
from headgate.agents.assistant.offline.reading.columns import Column, Formula
from headgate.agents.assistant.offline.reading.data import Sample, forms_of, plain
from headgate.agents.assistant.offline.reading.patterns import NUMBER_WORDS, Pattern
from headgate.agents.assistant.offline.reading.sources import Source, source_of
from headgate.agents.assistant.offline.reading.tokens import Tokens, number_of
from headgate.agents.assistant.offline.reading.words import ADJECTIVES, FUNCTIONS, ORDINALS, RESERVED, SIGNS, Order
from headgate.features.catalog.words import word_set
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog

_ROWS = values("rows")
_NO_VALUES = {("en", "text"), ("en", "word"), ("sv", "text"), ("sv", "ordet"), ("sv", "texten")}
"""What is never a value without quotation marks."""
_AND = re.compile(r"(?:(?:, )?\b(?:and|och|as well as|samt) |, )")


@dataclass
class Context:
    """What slots are read with."""

    tokens: Tokens
    language: Language
    catalog: Catalog
    flow: Flow
    sample: Sample | None = None
    default_model: str | None = None
    flows: tuple[str, ...] | None = None
    """Names of the published flows that steps may run; None where they are not known."""
    cache: dict[tuple[str, str], Any] = field(default_factory=dict)

    def read(self, kind: str, words: str) -> Any:  # noqa: ANN401 - the values of slots have nothing in common
        """The value of a slot; None when these tokens are none of its type. Remembered for the request."""
        key = (kind, words)
        if key not in self.cache:
            self.cache[key] = READERS[kind](self, words.strip())
        return self.cache[key]

    def plain(self, words: str) -> str:
        """Tokens as text, the literals by their values and as they were written."""
        values = {token.written: token.value for token in self.tokens.items}
        return " ".join(values.get(word, word) for word in words.split())


def is_reserved(words: str) -> bool:
    """Whether one of the words has a meaning of its own in a request."""
    return any(word in RESERVED for word in words.split())


def is_mark(words: str) -> bool:
    """Whether the words are one literal."""
    return words.startswith("‹") and " " not in words


def read_number(context: Context, words: str) -> float | None:
    """A number in figures or words."""
    if words in NUMBER_WORDS:
        return NUMBER_WORDS[words]
    return number_of(context.tokens.literal(words)) if words.startswith("‹n") and is_mark(words) else None


def read_literal(context: Context, words: str) -> str | None:
    """A quoted text, a number, an address: what a mark stands for."""
    return context.tokens.literal(words) if is_mark(words) else None


def read_text(context: Context, words: str) -> str | None:
    """A quoted text, or a few words of which none has a meaning of its own."""
    if is_mark(words):
        return read_literal(context, words)
    if is_reserved(words) or (context.language, words) in _NO_VALUES or _source(context, words) is not None:
        return None
    return SIGNS.get(words, context.plain(words))


def read_column(context: Context, words: str) -> Column | None:
    """A column; where the data is known, the one of its columns that the words mean."""
    words = re.sub(r"^(?:column|kolumnen|kolumn|field|fältet) (?=\S)|(?<=\S) (?:column|kolumnen)$", "", words)
    name = read_literal(context, words) if is_mark(words) else None if is_reserved(words) else context.plain(words)
    if name is None or words in {"column", "columns", "field", "kolumn", "kolumnen", "value", "result", "rest"}:
        return None
    sample = context.sample
    if sample is None or sample.columns is None:
        return None if (" " in words or words in _LINES) and not is_mark(words) else Column(name)
    known = sample.column(name)
    return None if known is None and words in _LINES else Column(known) if known else Column(name, missing=True)


def read_columns(context: Context, words: str) -> tuple[Column, ...] | None:
    """Columns in a list: `name, city and age`."""
    words = re.sub(r"^(?:columns|column|kolumnerna|kolumnen) ", "", words)
    read = [read_column(context, part.strip()) for part in _AND.split(f"{words} ") if part.strip()]
    columns = tuple(column for column in read if column is not None)
    return columns if columns and len(columns) == len(read) else None


def read_rows(context: Context, words: str) -> str | None:
    """What the rows of a table are called: rows, records, or what the file is named after."""
    stem = context.sample.stem if context.sample is not None else ""
    if words in _LINES - {"row", "rows"} and not _of_table(context):
        return None
    return words if words in _ROWS[context.language] or (stem and forms_of(words) & forms_of(stem)) else None


_LINES = word_set("line lines row rows rad raden rader raderna")


def _of_table(context: Context) -> bool:
    """Whether `lines` are rows of a table: of the one that came, or of the one that is spoken of."""
    if context.sample is not None:
        return context.sample.columns is not None
    return (
        re.search(
            r"\b(?:csv\w*|tabellen|tabell|table|spreadsheet|kalkyl\w*|paket\w*|packages)\b", context.tokens.text.lower()
        )
        is not None
    )


def _kind_list(context: Context, words: str) -> tuple[kinds.Kind, ...] | None:
    names = kinds.BY_NAME[context.language]
    parts = [part.strip() for part in _AND.split(f"{words} ") if part.strip()]
    parts = [re.sub(r"^(?:every|each|any|varje) ", "", part) for part in parts]
    return tuple(names[part] for part in parts) if parts and all(part in names for part in parts) else None


def _unit(context: Context, words: str) -> units.Unit | None:
    unit = units.BY_NAME[context.language].get(words)
    return None if unit is units.LINE and _of_table(context) else unit


def _units(context: Context, words: str) -> tuple[units.Unit, ...] | None:
    parts = [_unit(context, part.strip()) for part in _AND.split(f"{words} ") if part.strip()]
    read = tuple(part for part in parts if part is not None)
    return read if len(read) > 1 and len(read) == len(parts) else None


def _values(context: Context, words: str) -> tuple[str | float, ...] | None:
    parts = re.split(r" (?:or|eller) ", words)
    read = [_value(context, part) for part in parts]
    return tuple(value for value in read if value is not None) if all(value is not None for value in read) else None


def _value(context: Context, words: str) -> str | float | None:
    return read_number(context, words) if words.startswith("‹n") else read_text(context, words)


def bound(context: Context, pattern: Pattern, match: re.Match[str]) -> dict[str, Any] | None:
    """The slots of a match with their values; None when one of them cannot be read."""
    slots: dict[str, Any] = {}
    for name, kind in pattern.slots.items():
        if match[name] is None:
            continue
        value = context.read(kind, match[name])
        if value is None:
            return None
        slots[name] = value
    return slots


def _source(context: Context, words: str) -> Source | None:
    return source_of(words, context.language, context.sample)


def _measures(context: Context, words: str) -> tuple[str, ...] | None:
    """Aggregate functions: `average`, `min and max`."""
    known = FUNCTIONS[context.language]
    parts = [re.sub(r" (?:of|av|value)$", "", part.strip()) for part in _AND.split(f"{words} ") if part.strip()]
    return tuple(known[part] for part in parts) if parts and all(part in known for part in parts) else None


_OPERATORS = {
    "times": "*", "x": "*", "*": "*", "gånger": "*", "multiplied by": "*", "plus": "+", "+": "+", "minus": "-",
    "-": "-", "divided by": "/", "/": "/", "delat med": "/", "delat på": "/", "genom": "/",
}  # fmt: skip
_FORMULA = re.compile(
    r"(?P<left>.+?) (?P<sign>"
    + "|".join(map(re.escape, sorted(_OPERATORS, key=len, reverse=True)))
    + r") (?P<right>.+)"
)


def _formula(context: Context, words: str) -> Formula | None:
    match = _FORMULA.fullmatch(words)
    if match is None:
        return None
    right, percent = re.subn(r" (?:percent|%|procent)$", "", match["right"])
    left_part, right_part = (_operand(context, part) for part in (match["left"], right))
    if left_part is None or right_part is None or (percent and not isinstance(right_part, int | float)):
        return None
    return Formula(left_part, _OPERATORS[match["sign"]], right_part, bool(percent))


def _operand(context: Context, words: str) -> Column | float | None:
    number = read_number(context, words)
    return number if number is not None else read_column(context, words)


def _component(context: Context, words: str) -> str | None:
    """A component by its type, or by the name it has on the page."""
    name = plain(context.plain(words)).replace(" ", "")
    for type_ in context.catalog.types():
        template = context.catalog.template(type_)
        label = plain(template.label).replace(" ", "") if template is not None else ""
        if name in {type_.lower(), label}:
            return type_
    return None


def _node(context: Context, words: str) -> str | None:
    """A step of the flow by its id, its title, or, where there is one such, its kind."""
    name = plain(
        re.sub(r"^(?:step|node|steget|noden|component) |(?<=\S) (?:step|node|steget)$", "", context.plain(words))
    )
    if re.match(r"(?:saving|save|spara|sparas)\b", name) and context.flow.node(name) is None:
        name = "save"  # `before saving the report`
    return node_named(context.flow.nodes, context.catalog, name)


def node_named(nodes: Sequence[Node], catalog: Catalog, name: str) -> str | None:
    """The step with that id or title, or the only one of that kind."""
    by_name = [node.id for node in nodes if name in {plain(node.id), plain(node.label)}]
    kind = name.replace(" ", "")
    by_type = [node.id for node in nodes if kind in _type_names(catalog, node.type)]
    named = by_name or by_type
    return named[0] if len(named) == 1 else None


_KINDS_OF_STEPS = {
    key.removeprefix("step "): word_set(words) for key, words in pairs("both", "values") if key.startswith("step ")
}


def _type_names(catalog: Catalog, type_: str) -> set[str]:
    template = catalog.template(type_)
    label = plain(template.label).replace(" ", "") if template is not None else ""
    return {type_.lower(), label, *_KINDS_OF_STEPS.get(type_, ())}


def _files(context: Context, words: str) -> tuple[str, ...]:
    return tuple(context.tokens.literal(mark) for mark in re.findall(r"‹f\d+›", words))


_DANGLING = word_set("and och , in i of av by with med to till for för on på from från at vid ur")


_OF_THE_RUN = re.compile(
    r"\b(?:retry|retries|limit (?:cost|costs|budget|spending)|(?:if|when) (?:it|that|model|step) fails"
    r"|(?:after|before|for|get|until) approval|ask \S+(?: \S+)? (?:before|to approve)|remind \S+|timeout"
    r"|försök(?: igen)? \S+ gånger|begränsa kostnaden|(?:om|när) (?:det|den|modellen|steget) misslyckas"
    r"|(?:efter|före|innan|om) godkännande|påminn \S+|tidsgräns)\b"
)
"""What a step is to do around its work. A model that reads it in its prompt cannot do it."""


def _free(context: Context, words: str) -> str | None:
    return None if _OF_THE_RUN.search(words) else _output(context, words)


def _output(context: Context, words: str) -> str | None:
    return None if words.rsplit(maxsplit=1)[-1] in _DANGLING else context.plain(words)


Reader = Callable[[Context, str], Any]
READERS: dict[str, Reader] = {
    "number": read_number, "quoted": read_literal, "text": read_text, "word": read_text, "values": _values,
    "column": read_column, "columns": read_columns, "rows": read_rows, "file": read_literal,
    "files": _files, "url": read_literal, "date": read_literal, "path": read_literal, "math": read_literal,
    "kinds": _kind_list,
    "unit": _unit, "units": _units, "source": _source, "measures": _measures, "free": _free, "node": _node,
    "component": _component, "output": _output, "formula": _formula,
}  # fmt: skip


def _direction(context: Context, words: str) -> Order | None:
    sets = classes(context.language)
    if words in sets["most"]:
        return Order(descending=True)
    return Order(descending=False) if words in sets["least"] else None


def _adjective(context: Context, words: str) -> Order | None:
    """`cheapest`, where one column of the data is meant by it; with the column's name."""
    words = re.sub(r" (?:first|at top|on top|först|överst)$", "", words)
    order = ADJECTIVES[context.language].get(words)
    if order is None:
        return None
    columns = _known_columns(context)
    names = [name for name in order.columns if columns is not None and name in columns]
    return Order(order.descending, (names[0],)) if len(names) == 1 else None


def _known_columns(context: Context) -> tuple[str, ...] | None:
    return context.sample.columns if context.sample is not None else None


def _known_list(context: Context, words: str) -> tuple[Column, ...] | None:
    """Columns that are in the data: what may be named without saying that they are columns."""
    columns = read_columns(context, words) if context.sample is not None and context.sample.columns else None
    return columns if columns is not None and not any(column.missing for column in columns) else None


def _extreme(context: Context, words: str) -> Order:
    return Order(descending=FUNCTIONS[context.language][words] == "max")


def _ordinal(_context: Context, words: str) -> float | None:
    return ORDINALS.get(words)


READERS |= {
    "direction": _direction, "adjective": _adjective, "known": _known_list, "ordinal": _ordinal,
    "extreme": _extreme, "genre": _free,
}  # fmt: skip
