"""Steps on tables: choose rows and columns, aggregate, group, sort, limit. What fits shares one query."""

from collections.abc import Sequence
from dataclasses import replace

from headgate.agents.assistant.offline.assembly import sql, text_steps
from headgate.agents.assistant.offline.assembly.columns import holds_figures, size_column
from headgate.agents.assistant.offline.assembly.shapes import as_table, base_of, derive, query_on, realise, select
from headgate.agents.assistant.offline.assembly.targets import names_of
from headgate.agents.assistant.offline.assembly.values import Query, Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.operations import Operation

_FUNCTIONS = {"a.sum": "sum", "a.avg": "avg", "a.min": "min", "a.max": "max", "v.sum": "sum", "v.avg": "avg"}
_NAMES = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest"}
_ASSUMED_LIMIT = 10
_TOP = frozenset(["top", "topp"])


def is_tabular(value: Value) -> bool:
    """Whether a value is queried as a table rather than as a list or text."""
    return value.kind == "table" and not (value.single and value.query is None)


def filter_rows(shop: Workshop, value: Value, condition: Condition, *, keep: bool) -> Value | None:
    """The rows that fit; None when no column can be meant."""
    table, query = base_of(shop, value)
    fallback = value.single or value.last_column
    clause = sql.where(condition, table.columns, keep=keep, fallback=fallback)
    if clause is None:
        return None
    column = sql.column_for(condition, table.columns, fallback)
    if condition.column and column.lower() != condition.column.lower():
        shop.assume(f"I took '{condition.column}' to mean the column {column}.")
    elif not condition.column:
        shop.assume(f"I compared the column {column} with {condition.value}.")
    if query.aggregated or query.limit is not None:
        table, query = _fresh(shop, value)
    wanted = "" if condition.value is None else str(condition.value)
    words = frozenset(wanted.lower().split()) | {"matches", "hits", "ones"}
    label = f"Rows where {clause}" if len(clause) < 48 else f"Rows by {column}"
    query = replace(query, where=(*query.where, clause))
    return query_on(shop, table, query, tags=value.tags | words, label=label, last_column=column)


def _fresh(shop: Workshop, value: Value) -> tuple[Value, Query]:
    """The result of the pending query as a step of its own, to be queried anew."""
    shop.use(value)
    return realise(shop, as_table(shop, value)), Query()


def columns(shop: Workshop, value: Value, words: Sequence[str], *, only: bool) -> Value | None:
    """Some columns of a table; the name of each row stays unless only these are wanted. None when none is known."""
    table, query = base_of(shop, value)
    found = [column for word in words if (column := sql.resolve(word, table.columns))]
    if not found:
        return None
    if not only and table.columns and table.columns[0] not in found:
        found.insert(0, table.columns[0])
    found = list(dict.fromkeys(found))
    if query.aggregated:
        return value
    for word, column in zip(words, found, strict=False):
        if table.columns is not None and word.lower().rstrip("s") not in column and column != table.columns[0]:
            shop.assume(f"I took '{word}' to mean the column {column}.")
    if query.limit is not None and query.select and table.shown:
        found = list(dict.fromkeys([*table.shown, *found]))
    chosen = replace(query, select=tuple(sql.name(column, table.columns) for column in found))
    shop.last_column = found[-1]
    return query_on(
        shop, table, chosen, shown=tuple(found), last_column=found[-1], tags=value.tags | set(found) | {"names"}
    )


def summarise(shop: Workshop, value: Value, aggregates: Sequence[Operation], by: Sequence[str]) -> Value:
    """Counts, sums and averages, of everything or by group."""
    table, query = base_of(shop, value)
    if query.aggregated or query.limit is not None or query.distinct:
        table, query = _fresh(shop, value)
    groups = [sql.resolve(word, table.columns) or word for word in by]
    for word, column in zip(by, groups, strict=True):
        if column.lower() not in word.lower() and not word.lower().startswith(column.lower()):
            shop.assume(f"I took '{word}' to mean the column {column}.")
    shared = next((str(one.slots["column"]) for one in aggregates if one.slots.get("column")), "")
    made = [_aggregate(shop, table, operation, shared) for operation in aggregates]
    group = tuple(sql.name(column, table.columns) for column in groups)
    select_list = (*group, *(f"{expression} AS {name}" for expression, name in made))
    order = (f"{made[0][1]} DESC",) if group else ()
    names = tuple(name.strip('"') for _, name in made)
    tags = frozenset(
        {
            "count",
            "counts",
            "table",
            "summary",
            "number",
            "numbers",
            "total",
            "totals",
            "result",
            *groups,
            *(part for name in names for part in name.split("_")),
        }
    )
    label = " and ".join(_said(name) for name in names) + (f" by {' and '.join(groups)}" if groups else "")
    query = Query(select=select_list, where=query.where, group=group, order=order, aggregated=True)
    changes = {
        "columns": (*groups, *names),
        "tags": tags,
        "label": label,
        "single": "" if groups or len(names) > 1 else names[0],
    }
    return query_on(shop, table, query, **changes, last_column=names[0], shown=None, by=tuple(groups), before=value)


def _said(name: str) -> str:
    return name.replace("_", " ")


def _aggregate(shop: Workshop, table: Value, operation: Operation, shared: str) -> tuple[str, str]:
    """One aggregate as expression and name; `shared` is the column that only another of them names."""
    if operation.name in {"count", "tally"}:
        return "count(*)", "count"
    function = operation.slots["function"]
    word = str(operation.slots.get("column") or shared or table.last_column or "")
    column = sql.resolve(word, table.columns) if word else ""
    if not column:
        numeric = [name for name in table.columns or () if name.endswith(("_bytes", "files"))]
        column = numeric[-1] if numeric else word or "value"
        shop.assume(f"I took the {_NAMES[function]} of the column {column}.")
    elif word and column.lower() not in word.lower():
        shop.assume(f"I took '{word}' to mean the column {column}.")
    expression = f"{function}({sql.name(column, table.columns)})"
    return (f"round({expression}, 2)" if function == "avg" else expression), sql.alias(f"{_NAMES[function]}_{column}")


def function_of(sense: str) -> str:
    """The SQL function of an aggregating word."""
    return _FUNCTIONS.get(sense, "sum")


def sort_rows(shop: Workshop, value: Value, by: str, *, descending: bool | None) -> Value:
    """Rows in order. Numbers come largest first when a question asks for the most."""
    table, query = base_of(shop, value)
    if query.limit is not None and not query.soft_limit:
        table, query = _fresh(shop, value)
    known = table.columns
    column = (sql.resolve(by, known) if by else "") or value.last_column or (known[0] if known else "")
    if query.aggregated and not by and known:
        column = known[-1]
    if not column:
        return value
    if by and column.lower() not in by.lower() and by.lower() not in column.lower():
        shop.assume(f"I took '{by}' to mean the column {column}.")
    direction = " DESC" if descending else ""
    query = replace(query, order=(f"{sql.name(column, known)}{direction}",), open_order=descending is None)
    return query_on(shop, table, query, last_column=column, label=value.label or f"Sort by {column}")


def top_rows(shop: Workshop, value: Value, operation: Operation, word: str, *, descending: bool) -> Value:
    """`the ten biggest`, `most space`, `smallest three`."""
    known = as_table(shop, value).columns
    asked = str(operation.slots.get("by") or "")
    column = (
        (sql.resolve(asked, known) if asked else "") or (size_column(word, known) if known else "") or value.last_column
    )
    if not column and known:
        column = known[-1]
    if not column:
        shop.lacking.append(f"'{word}': say by which column, for example 'sorted by price'")
        return value
    if asked and column.lower() not in asked.lower():
        shop.assume(f"I took '{asked}' to mean the column {column}.")
    elif not asked and known and "size" in column:
        shop.assume(f"I took '{word}' to mean the column {column}.")
    if column == "size_bytes":
        shop.assume("size_bytes is the size of a package's metadata and licence texts.")
    ordered = sort_rows(shop, value, column, descending=descending)
    count = operation.slots.get("n")
    query = ordered.query or Query()
    if not query.select and known and known[0] != column:
        query = replace(query, select=(sql.name(known[0], known), sql.name(column, known)))
        ordered.shown = (known[0], column)
    query = replace(query, limit=int(count) if count else _ASSUMED_LIMIT, soft_limit=not count)
    ordered.query = query
    ordered.label = f"{'Largest' if descending else 'Smallest'} by {column}"
    ordered.tags |= {"top", "list", word.lower()}
    return ordered


def limit_rows(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`top 10`, `only the first 5`."""
    table, query = base_of(shop, value)
    count = int(operation.slots["n"])
    if query.limit is not None and not query.soft_limit:
        table, query = _fresh(shop, value)
    if operation.slots.get("which") == "last":
        shop.assume("I took 'last' as the end of the table as it is sorted.")
        query = replace(query, order=("rowid DESC",)) if not query.order else query
    if query.open_order and shop.reading.tokens[operation.start].word in _TOP and holds_figures(table.last_column):
        query = replace(query, order=tuple(f"{one} DESC" for one in query.order), open_order=False)
    skipped = max(0, int(operation.slots.get("from") or 1) - 1)
    query = replace(query, limit=max(1, count - skipped), offset=skipped, soft_limit=False)
    return query_on(shop, table, query, label=value.label or f"First {count} rows")


def distinct_rows(shop: Workshop, value: Value) -> Value:
    """Each row once."""
    table, query = base_of(shop, value)
    if query.aggregated or query.limit is not None:
        table, query = _fresh(shop, value)
    order = query.order or query.select[:1]
    return query_on(shop, table, replace(query, distinct=True, order=order), label=f"Distinct {value.label}".strip())


def frequent(shop: Workshop, value: Value, operation: Operation, *, descending: bool) -> Value:
    """`the five most common licences`, `the most frequent words`."""
    count = operation.slots.get("n")
    if value.kind == "table" and not value.single:
        word = str(operation.slots.get("by") or value.last_column)
        column = sql.resolve(word, value.columns)
        already = _is_counted(value)
        counted = value if already else summarise(shop, value, [Operation("count")], [column or word])
    else:
        counted = text_steps.tally(shop, value)
    table, query = base_of(shop, counted)
    order = ("count DESC",) if descending else ("count",)
    limit = int(count) if count else None if _is_counted(value) else _ASSUMED_LIMIT
    return query_on(shop, table, replace(query, order=order, limit=limit, soft_limit=not count), label=counted.label)


def _is_counted(value: Value) -> bool:
    """Whether the rows are counts by group already."""
    return value.query is not None and value.query.aggregated and bool(value.query.group)


def count_of(shop: Workshop, value: Value) -> Value:
    """How many there are."""
    if value.kind == "number":
        return value
    if value.kind == "text" and not value.unit:
        shop.assume("I counted the words of the text.")
        value = derive(shop, value, "u.word")
    if value.kind == "file":
        value = derive(shop, value, "u.line")
    if value.by and value.query is not None:
        return value
    plural = names_of(value.unit)[1] if value.unit else ("rows" if value.kind == "table" else "items")
    if (value.kind == "table" and value.source == "" and "packages" in value.tags) or value.source == "s.packages":
        plural = "packages"
    tags = frozenset(
        {
            "count",
            "counts",
            "number",
            "numbers",
            "total",
            "amount",
            "tally",
            "antal",
            "antalet",
            *plural.split(),
            *names_of(value.unit)[0].split("_"),
        }
    )
    if value.port == "chunks":
        shop.use(value)
        return shop.keep(Value("number", value.node, "count", tags, f"number of {plural}", of_branch=value.of_branch))
    node = select(shop, value, "length(@)", f"Count the {plural}")
    return shop.keep(
        Value("number", node, "data", tags, f"number of {plural}", text_port="text", of_branch=value.of_branch)
    )


def figure_of(shop: Workshop, value: Value, function: str) -> Value:
    """The sum, average, smallest or largest of a list of numbers."""
    items = value if value.kind == "items" else derive(shop, value, "t.number")
    expression = f"{function}(map(&to_number(@), @))"
    node = select(shop, items, expression, f"{_NAMES[function]} of the numbers")
    tags = frozenset({"sum", "total", "average", "mean", "number", "result", _NAMES[function], function})
    return shop.keep(Value("number", node, "data", tags, _NAMES[function], text_port="text", of_branch=value.of_branch))
