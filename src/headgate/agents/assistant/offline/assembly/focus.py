"""What a clause works on: the sources it names, the results it points back to, or what came last."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.assembly.shapes import as_table, as_text, derive, select
from headgate.agents.assistant.offline.assembly.sources import find_source, is_spoken_of_as_table, make_source, source
from headgate.agents.assistant.offline.assembly.table_steps import filter_rows, is_tabular
from headgate.agents.assistant.offline.assembly.text_steps import filter_items
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Mention, Operation, Statement
from headgate.features.catalog.words import word_set

_AGGREGATES = frozenset({"count", "aggregate"})
_PRONOUNS = word_set("it this that det den detta")
_TABLE_WORK = frozenset({"group", "aggregate", "columns", "superlative"})


def focus(shop: Workshop, statement: Statement, *, plain: bool = False) -> tuple[list[Value], list[Operation]]:
    """The values a clause works on, and the operations left to do on them.

    `plain` asks for all things of a kind rather than for those that were filtered before.
    """
    sources = _sources(shop, statement)
    pointed = _pointed(shop, statement)
    operations = [
        operation for operation in statement.operations if operation.name not in {"source", "derive", "literal"}
    ]
    derivations = [operation for operation in statement.operations if operation.name == "derive"]
    earlier, operations = _earlier_results(shop, operations)
    here = [(operation.start, value) for operation, value in _placed_sources(statement, sources) if value.result]
    if earlier:
        here += _known_derivations(shop, derivations)
    named = sorted([*pointed, *earlier, *(here if pointed or earlier else ())], key=lambda pair: pair[0])
    if named:
        values = list(dict.fromkeys(value for _, value in named))
        if derivations and not earlier:
            return _derived(shop, derivations, statement, values, fresh=False, plain=plain), operations
        return values, operations
    base = sources or shop.current
    if derivations:
        return _derived(shop, derivations, statement, base, fresh=bool(sources), plain=plain), operations
    return list(base), operations


def _known_derivations(shop: Workshop, derivations: Sequence[Operation]) -> list[tuple[int, Value]]:
    """`both the lines and the count`: the lines that are there already, with their places."""
    found = [(one.start, _known(shop, str(one.slots["sense"]), shop.current, plain=False)) for one in derivations]
    return [(start, value) for start, value in found if value is not None]


def _placed_sources(statement: Statement, sources: Sequence[Value]) -> list[tuple[Operation, Value]]:
    """The sources of a clause with the words that name them, where they pair up."""
    naming = [operation for operation in statement.operations if operation.name == "source"]
    return list(zip(naming, sources, strict=True)) if len(naming) == len(sources) else []


def default_source(shop: Workshop, statement: Statement | None, *, record: bool = False, table: bool = False) -> Value:
    """Where input comes from when nothing was said: the form for fields, a file for columns, else the run's text."""
    if record:
        return find_source(shop, "s.form") or make_source(shop, "s.form")
    if table or (statement is not None and any(operation.name in _TABLE_WORK for operation in statement.operations)):
        shop.assume("I take the table from the uploaded file.")
        return find_source(shop, "s.file") or make_source(shop, "s.file")
    return find_source(shop, "s.text") or make_source(shop, "s.text")


def _sources(shop: Workshop, statement: Statement) -> list[Value]:
    found: list[Value] = []
    for operation in statement.operations:
        if operation.name == "source":
            value = _source(shop, operation)
            if value is not None and value not in found:
                found.append(value)
        elif operation.name == "literal":
            node = shop.draft.add("TextInput", "fixed_text", {"text": str(operation.slots["text"])}, "Fixed text")
            found.append(shop.keep(Value("text", node, "text", frozenset({"text"}), "text")))
    return found


def _source(shop: Workshop, operation: Operation) -> Value | None:
    sense = operation.slots["sense"]
    if sense == "s.text" and not operation.slots.get("own"):
        known = _latest_text(shop)
        if known is not None:
            return known
    if sense == "s.page":
        return _page(shop)
    value = source(shop, operation)
    if sense == "s.file" and is_spoken_of_as_table(shop, operation):
        value.tags |= {"csv", "table", "tabular", "rows"}
    if operation.slots.get("named"):
        shop.assume(f"I take {operation.slots['named']} to be the file that is uploaded for the run.")
    for name in operation.slots.get("fields") or ():
        shop.draft.ask_for(name)
        value.last_column = name
    return value


def _latest_text(shop: Workshop) -> Value | None:
    return next(
        (value for value in reversed(shop.values) if value.kind in {"text", "file"} and not value.of_branch), None
    )


def _page(shop: Workshop) -> Value | None:
    """`the page`: the one fetched before; for a list of links each of them; else the address comes as text."""
    known = find_source(shop, "s.url")
    if known is not None:
        return known
    links = next((value for value in shop.current if value.unit == "t.url"), None)
    if links is not None:
        tool = shop.draft.add("URL", "fetch", {}, "Fetch a page")
        node = shop.draft.add("Map", "pages", {"argument": "url"}, "Fetch each page")
        shop.draft.connect(links.node, links.port, node, "items")
        shop.draft.connect(tool, "tool", node, "each")
        shop.use(links)
        tags = frozenset({"pages", "page", "texts", "results"})
        return shop.keep(Value("data", node, "results", tags, "pages", text_port="text"))
    shop.assume("I take the address of the page from the run's text.")
    node = shop.draft.add("URL", "page", {}, "Fetch the page")
    text = default_source(shop, None)
    shop.draft.connect(*as_text(shop, text), node, "url")
    return shop.keep(
        Value("text", node, "text", frozenset({"page", "website", "text", "content"}), "page", source="s.url")
    )


def _pointed(shop: Workshop, statement: Statement) -> list[tuple[int, Value]]:
    """The earlier results that the mentions of a clause mean, with their places; claims the words of those found."""
    found: list[tuple[int, Value]] = []
    for mention in statement.mentions:
        values = _meant(shop, mention)
        if mention.kind == "both" and _announces(shop, mention, statement):
            continue
        if values:
            shop.reading.claim(mention.start, mention.end)
        found += [(mention.start, value) for value in values]
    return found


def _announces(shop: Workshop, both: Mention, statement: Statement) -> bool:
    """Whether `both` only announces what is named right behind it: `both the text and the count`."""
    near = [one for one in statement.mentions if one.kind == "named" and 0 <= one.start - both.end <= 2]
    return any(_meant(shop, one) for one in near)


def _meant(shop: Workshop, mention: Mention) -> list[Value]:
    if mention.kind == "named":
        return [value for value in shop.tagged(mention.words) if value.result]
    if mention.kind == "both":
        several = loose(shop)
        return several if len(several) > 1 else shop.current
    if mention.kind == "many":
        return _several(shop)
    if mention.kind == "others":
        return _others(shop)
    pronoun = mention.words[0] in _PRONOUNS
    named = [] if pronoun else [value for value in shop.tagged(mention.words) if value.result]
    return named or shop.current


def _others(shop: Workshop) -> list[Value]:
    """What the last filter left out."""
    if shop.last_filter is None:
        return _several(shop)
    value, operation = shop.last_filter
    condition, keep = operation.slots["condition"], not operation.slots["keep"]
    if value.kind == "file" or is_tabular(value):
        found = filter_rows(shop, as_table(shop, value), condition, keep=keep)
        return [found] if found is not None else []
    return [filter_items(shop, value, condition, keep=keep)]


def _several(shop: Workshop) -> list[Value]:
    """What `them` means: the results at hand when they are several, else the last list or table that is no summary."""
    if len(shop.current) > 1 or (shop.current and shop.current[0].implicit):
        return shop.current
    if shop.current and (
        shop.current[0].kind in {"items", "data"} or shop.current[0].label in {"report", "combined text"}
    ):
        return shop.current
    several = [value for value in shop.values if value.kind in {"items", "table", "data"} and not _is_summary(value)]
    return several[-1:] or shop.current


def _is_summary(value: Value) -> bool:
    return value.kind == "table" and value.query is not None and value.query.aggregated


def loose(shop: Workshop) -> list[Value]:
    """Results that nothing has used yet, in order."""
    return [value for value in shop.values if value.result and not value.consumed]


def _earlier_results(shop: Workshop, operations: list[Operation]) -> tuple[list[tuple[int, Value]], list[Operation]]:
    """`the count`, when there is one already, is that result and not a further counting."""
    found: list[tuple[int, Value]] = []
    left: list[Operation] = []
    for operation in operations:
        known = (
            _named_figures(shop, operation) if operation.slots.get("definite") and operation.name in _AGGREGATES else []
        )
        if known:
            found += [(operation.start, value) for value in known]
        else:
            left.append(operation)
    return found, left


def _named_figures(shop: Workshop, operation: Operation) -> list[Value]:
    words = {shop.reading.tokens[at].word for at in range(operation.start, operation.end)}
    words |= {"count"} if operation.name == "count" else {"total", "average", "sum"}
    plural = any(word.endswith("s") for word in words)
    figures = [
        value for value in shop.values if value.tags & words and value.result and (value.kind in {"number", "table"})
    ]
    return figures if plural else figures[-1:]


def _derived(
    shop: Workshop,
    derivations: Sequence[Operation],
    statement: Statement,
    base: Sequence[Value],
    *,
    fresh: bool,
    plain: bool,
) -> list[Value]:
    found: list[Value] = []
    for sense in dict.fromkeys(str(operation.slots["sense"]) for operation in derivations):
        known = _known(shop, sense, base, plain=plain) if plain or not fresh else None
        value = known or _derive_one(shop, sense, statement, list(base))
        if value not in found:
            found.append(value)
    return found


def _known(shop: Workshop, sense: str, base: Sequence[Value], *, plain: bool) -> Value | None:
    """The result of that kind that is there already, the one at hand first."""
    if plain:
        return next((value for value in shop.values if value.unit == sense and value.plain), None)
    near = [value for value in base if value.unit == sense]
    return (
        near[0]
        if near
        else next((value for value in reversed(shop.values) if value.unit == sense and value.result), None)
    )


def _derive_one(shop: Workshop, sense: str, statement: Statement, base: list[Value]) -> Value:
    if not base:
        base = [default_source(shop, statement)]
    value = base[0]
    if value.kind == "file" and sense in {"u.line", "u.part"} and ("tabular" in value.tags or _has_columns(statement)):
        return value
    if value.kind == "table" and sense in {"u.line", "u.part"}:
        return value
    if (
        value.kind in {"number", "record", "data"}
        and sense.startswith(("u.", "t."))
        and not (value.kind == "data" and sense == "u.part")
    ):
        value = _latest_text(shop) or value
    if value.kind == "items" and value.plain and value.origin is not None and sense != value.unit:
        value = value.origin
    if sense == "t.url" and value.source == "s.url" and value.kind == "text":
        return _links(shop, value)
    return derive(shop, value, sense)


def _has_columns(statement: Statement) -> bool:
    conditions = [operation.slots["condition"] for operation in statement.operations if operation.name == "filter"]
    return any(condition.column for condition in conditions) or any(o.name in _TABLE_WORK for o in statement.operations)


def _links(shop: Workshop, page: Value) -> Value:
    """The links of a fetched page: the component lists them itself."""
    template = shop.draft.catalog.template("URL")
    if template is None or template.output("links") is None:
        return derive(shop, page, "t.url")
    shop.use(page)
    links = Value("data", page.node, "links", frozenset({"links"}), "links")
    node = select(shop, links, "[].url || @", "Addresses of the links")
    tags = word_set("link links url urls t.url list")
    return shop.keep(Value("items", node, "data", tags, "links", unit="t.url"))
