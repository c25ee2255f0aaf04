"""What can be done with the rows and columns of a table."""

import re
from collections.abc import Callable
from pathlib import PurePath

from headgate.agents.assistant.offline.build.work import Cursor, Work, json_literal, literal, quoted_column
from headgate.agents.assistant.offline.reading.columns import Column, Formula
from headgate.agents.assistant.offline.reading.conditions import Condition
from headgate.agents.assistant.offline.reading.units import LINE
from headgate.agents.assistant.offline.reading.words import Order
from headgate.agents.assistant.offline.recipe import Build, Slots, Step
from headgate.agents.assistant.offline.recipes.places import ALL, PLACES, alias, sort_key

_LINES = re.compile(r"\b(?:lines?|rad|rader|raden|raderna) ")


def _hint(work: Work, condition: Condition) -> None:
    for test in condition.tests:
        column = test.column or work.name_of_items
        value = test.value
        if not isinstance(value, str):
            value += {"gt": 1, "lt": -1}.get(test.operator, 0)
        work.hints.column(column, "" if test.operator in {"empty", "filled"} else value, *test.also)
        work.hints.texts += (
            [str(test.value), *test.also] if test.operator in {"contains", "starts", "ends", "eq"} else []
        )


def keep_where(work: Work, condition: Condition) -> None:
    """Keep the rows for which a condition holds. Raises `CannotBuild` for one on no column of a table."""
    cursor = work.table()
    if cursor.kind == "table" and any(not test.column for test in condition.tests):
        raise work.cannot("condition_on_which_column")
    _hint(work, condition)
    work.query("keep", f"{ALL} WHERE {condition.sql(cursor.column)}")


def _keep(work: Work, slots: Slots) -> None:
    keep_where(work, slots["condition"])


def _drop(work: Work, slots: Slots) -> None:
    try:
        condition = slots["condition"].negated
    except KeyError as error:
        raise work.cannot("say_which_rows_to_keep") from error
    keep_where(work, condition)


def _sort(work: Work, slots: Slots) -> None:
    order: Order = slots.get("adjective") or slots.get("direction") or Order(descending=False)
    cursor = work.table()
    if "column" in slots:
        column = slots["column"].name
    elif order.columns:
        column = order.columns[0]
    elif cursor.columns is not None and cursor.kind == "table" and work.results == []:
        column = cursor.columns[-1] if cursor.node.startswith("group") else ""
    else:
        column = cursor.column
    if not column:
        raise work.cannot("sort_by_which_column")
    work.hints.column(column)
    work.query("sort", f"{ALL} ORDER BY {sort_key(column)} {'DESC' if order.descending else 'ASC'}")


FIRST = ALL + " LIMIT {number}"
LAST = ALL + " WHERE t.rowid > (SELECT max(rowid) FROM t1) - {number}"  # noqa: S608
REST = ALL + " WHERE t.rowid > {number}"
BUT_LAST = ALL + " WHERE t.rowid <= (SELECT max(rowid) FROM t1) - {number}"  # noqa: S608
NTH = ALL + " WHERE t.rowid BETWEEN {number} AND {upper}"


def chosen(name: str, sql: str, listed: Callable[[Work, Slots], object] = lambda work, _slots: work.table()) -> Build:
    """Rows chosen by SQL: `{column}` is their column; `{number}` and `{upper}` are the numbers of the request."""

    def build(work: Work, slots: Slots) -> None:
        listed(work, slots)
        number = int(slots.get("number", 1))
        upper = int(slots.get("upper", number))
        work.query(name, sql.format(column=quoted_column(work.table().column), number=number, upper=upper))

    return build


def _top(work: Work, slots: Slots) -> None:
    _sort(work, slots)
    work.query("top", f"{ALL} LIMIT {int(slots.get('number', 1))}")


_NAMES = {"en": {"avg": "average", "sum": "total", "max": "highest", "min": "lowest"},
          "sv": {"avg": "medel", "sum": "summa", "max": "högsta", "min": "lägsta"}}  # fmt: skip


def _value(work: Work, slots: Slots) -> tuple[str, str]:
    """What is measured: its SQL and its name."""
    if "formula" in slots:
        return _computed(work, slots["formula"]), "value"
    sample = work.context.sample
    name = slots["column"].name if "column" in slots else _only_number(work, slots)
    work.hints.column(name, 1.0, 2.0)
    if sample is not None and sample.columns is not None and name in sample.columns and not sample.is_numeric(name):  # noqa: SIM102
        if not set(slots["measures"]) <= {"min", "max"}:
            raise work.cannot("not_numbers", name=name)
    return f"nullif({quoted_column(name)}, '')", name


def _only_number(work: Work, slots: Slots) -> str:
    """The column that is measured where none is named: the only one of the data that holds numbers."""
    sample = work.context.sample
    columns = sample.columns if sample is not None else None
    names = [name for name in columns or () if name != slots["group"].name and sample.is_numeric(name)]  # type: ignore[union-attr]
    if len(names) != 1:
        raise work.cannot("which_column")
    return names[0]


def _in_words(work: Work, slots: Slots) -> dict[str, object]:
    """The measures as they are restated: `average`, not `avg`."""
    names = _NAMES[work.context.language]
    return {"measures": tuple(names[measure] for measure in slots.get("measures", ()))}


def _group(work: Work, slots: Slots) -> Slots:
    work.table()
    group = slots["group"].name
    work.hints.column(group, "a", "b")
    measures = []
    names = [group]
    more: dict[str, object] = _in_words(work, slots)
    for measure in slots.get("measures", ()):
        value, name = _value(work, slots)
        more |= {} if "formula" in slots else {"column": Column(name)}
        names.append(f"{_NAMES[work.context.language][measure]}_{name}")
        measures.append(f"{measure}({value}) AS {alias(names[-1])}")
    if not measures:
        names.append(work.text_of("count"))
        measures.append(f"count(*) AS {alias(names[-1])}")
    column = quoted_column(group)
    sql = f"SELECT {column} AS {alias(group)}, {', '.join(measures)} FROM t1 AS t GROUP BY {column} ORDER BY {column}"  # noqa: S608
    work.query("group", sql, kind="table", columns=tuple(names))
    return more


def _aggregate(work: Work, slots: Slots) -> Slots:
    work.table()
    measures = slots["measures"]
    value, name = _value(work, slots)
    names = tuple(f"{_NAMES[work.context.language][measure]}_{name}" for measure in measures)
    columns = ", ".join(f"{m}({value}) AS {alias(n)}" for m, n in zip(measures, names, strict=True))
    work.query("measure", f"SELECT {columns} FROM t1 AS t", kind="table", columns=names)  # noqa: S608
    if len(names) == 1:
        _as_number(work, names[0])
    return _in_words(work, slots)


def _as_number(work: Work, name: str) -> None:
    cursor = work.table()
    node = work.select(cursor, f'[0]."{name}"', "number")
    work.set("number", node, "data")


def _count_rows(work: Work, slots: Slots) -> None:
    if "source" in slots and work.source.kind not in {"packages", "table"}:
        raise work.cannot("count_what")
    work.table()
    count_rows(work)


def count_rows(work: Work) -> None:
    """The number of the rows."""
    work.query("count", "SELECT count(*) AS n FROM t", kind="table")
    _as_number(work, "n")


def _distinct(work: Work, slots: Slots) -> None:
    work.table()
    name = slots["column"].name
    column = quoted_column(name)
    work.hints.column(name, "a", "a")
    work.query("distinct", f"SELECT {column} AS {alias(name)} FROM t1 AS t WHERE coalesce({column}, '') <> '' GROUP BY {column} ORDER BY min(t.rowid)",  # noqa: E501, S608
               kind="items", column=name)  # fmt: skip


def _count_where(work: Work, slots: Slots) -> None:
    keep_where(work, slots["condition"])
    count_rows(work)


def _count_distinct(work: Work, slots: Slots) -> None:
    _distinct(work, slots)
    _count_rows(work, slots)


def _dedupe(work: Work, slots: Slots) -> None:
    text = work.begin().kind == "text" and bool(_LINES.search(work.context.tokens.line))
    cursor = work.items(LINE) if text else work.table()
    if "column" in slots:
        name = slots["column"].name
        work.hints.column(name, "a", "a")
        work.query("dedupe", f"{ALL} WHERE t.rowid IN (SELECT min(rowid) FROM t1 AS t GROUP BY {quoted_column(name)})")  # noqa: S608
    elif cursor.kind == "items":
        column = quoted_column(cursor.column)
        work.query("dedupe", f"SELECT {column} FROM t1 AS t GROUP BY {column} ORDER BY min(t.rowid)")  # noqa: S608
    else:
        work.query("dedupe", "SELECT DISTINCT * FROM t")


def _columns(work: Work, slots: Slots) -> None:
    work.table()
    names = tuple(column.name for column in slots["columns"])
    for name in names:
        work.hints.column(name)
    _select(work, names)


def _select(work: Work, names: tuple[str, ...]) -> None:
    sql = f"SELECT {', '.join(map(quoted_column, names))} FROM t"  # noqa: S608 - quoted names
    work.query("columns", sql, columns=names, kind="table")


def _without(work: Work, slots: Slots) -> None:
    cursor = work.table()
    dropped = {column.name for column in slots["columns"]}
    if cursor.columns is None:
        raise work.cannot("attach_for_columns")  # fmt: skip
    _select(work, tuple(name for name in cursor.columns if name not in dropped))


def _rename(work: Work, slots: Slots) -> None:
    cursor = work.table()
    old, new = slots["column"].name, slots["new"]
    work.hints.column(old, "a")
    if cursor.columns is None:
        raise work.cannot("attach_for_other_columns")
    names = tuple(new if name == old else name for name in cursor.columns)
    parts = [f"{quoted_column(a)} AS {alias(b)}" for a, b in zip(cursor.columns, names, strict=True)]
    work.query("rename", f"SELECT {', '.join(parts)} FROM t", columns=names, kind="table")  # noqa: S608


def _computed(work: Work, formula: Formula) -> str:
    parts = []
    for part in (formula.left, formula.right):
        if isinstance(part, Column):
            work.hints.column(part.name, 2.0, 3.0)
            parts.append(f"CAST({quoted_column(part.name)} AS REAL)")
        else:
            parts.append(literal(part))
    if formula.percent:
        return f"{parts[0]} * (1 {formula.sign} {parts[1]} / 100.0)"
    return f"{parts[0]} {formula.sign} {parts[1]}"


def _compute(work: Work, slots: Slots) -> None:
    if not slots["formula"].columns:
        raise work.cannot("no_column")
    cursor = work.table()
    name = slots.get("name") or work.text_of("result")
    columns = (*cursor.columns, name) if cursor.columns is not None else None
    work.query(
        "compute",
        f"SELECT *, {_computed(work, slots['formula'])} AS {alias(name)} FROM t",  # noqa: S608
        columns=columns,
        kind="table",
    )


def _join(work: Work, slots: Slots) -> Slots:
    """Two files, each a field of a form, read as tables and joined where a column is the same."""
    column, names = slots["column"], {}
    for number, key in enumerate(("first", "second"), start=1):
        names[key] = slots.get(key) or work.text_of("table", number=number)
        field = work.draft.ask_for(PurePath(names[key]).stem, type_="file")
        upload = work.draft.add("FileInput", field, {"field": field}, names[key])
        read = work.draft.add("ReadFile", f"read_{field}", {}, names[key])
        work.draft.connect(upload, "file", read, "file")
        if key == "first":
            work.set("table", read, "table")
    work.hints.column(column, "a", "b")
    sql = f"SELECT * FROM t1 JOIN t2 USING ({alias(column)})"  # noqa: S608 - a quoted name
    work.query("join", sql, kind="table")
    work.draft.connect(read, "table", work.table().node, "table")
    return names


def _if_any(work: Work, slots: Slots) -> Slots:
    """The names of the rows for which a condition holds, or a text where there are none."""
    if work.cursor is not None and work.cursor != work.started:
        work.results.append(work.cursor)
    work.cursor = work.started
    columns = work.table().columns
    if not columns:
        raise work.cannot("attach_for_columns")
    keep_where(work, slots["condition"])
    work.query("names", f"SELECT {quoted_column(columns[0])} FROM t", kind="items", column=columns[0])  # noqa: S608
    check = work.draft.add_after(work.text(), "If", "check", {"operator": "is not empty"}, "value")
    merge = work.draft.add("Merge", "finding", {"mode": "first"})
    work.draft.connect(check, "true", merge, "values")
    say = work.select(Cursor("data", check, "false"), json_literal(slots["otherwise"]), "say")
    work.draft.connect(say, "text", merge, "values")
    work.set("text", merge, "text")
    work.hints.answers = True
    return {"column": Column(columns[0])}


def _most_counted(work: Work, slots: Slots) -> None:
    cursor = work.table()
    if not cursor.node.startswith(("frequency", "group")) or not cursor.columns:
        raise work.cannot("sort_by_which_column")
    work.query("top", f"{ALL} ORDER BY {quoted_column(cursor.columns[-1])} DESC LIMIT {int(slots['number'])}")


TABLES: dict[str, Step] = {
    **PLACES,
    "join_tables": Step("source", "form", _join),
    "if_any": Step("combine", "table", _if_any),
    "most_counted": Step("limit", "any", _most_counted),
    "keep_rows": Step("filter", "table", _keep),
    "drop_rows": Step("filter", "table", _drop),
    "sort_rows": Step("sort", "table", _sort),
    "order_rows": Step("sort", "table", _sort),
    "first_rows": Step("limit", "table", chosen("first", FIRST)),
    "at_most_rows": Step("limit", "table", chosen("first", FIRST)),
    "last_rows": Step("limit", "table", chosen("last", LAST)),
    "nth_rows": Step("limit", "table", chosen("rows", NTH)),
    "drop_first_rows": Step("limit", "table", chosen("rest", REST)),
    "drop_last_rows": Step("limit", "table", chosen("rest", BUT_LAST)),
    "top_rows": Step("limit", "table", lambda work, slots: _top(work, {"direction": Order(descending=True), **slots})),
    "group": Step("group", "table", _group),
    "sum_per_group": Step("group", "table", lambda work, slots: _group(work, {"measures": ("sum",), **slots})),
    "count_per_group": Step("group", "table", _group),
    "aggregate": Step("group", "table", _aggregate),
    "sum_column": Step("group", "table", lambda work, slots: _aggregate(work, {"measures": ("sum",), **slots})),
    "count_rows_where": Step("group", "table", _count_where),
    "count_rows": Step("group", "table", _count_rows),
    "distinct": Step("group", "table", _distinct),
    "count_distinct": Step("group", "table", _count_distinct),
    "dedupe_rows": Step("dedupe", "table", _dedupe),
    "dedupe_any": Step("dedupe", "any", _dedupe),
    "columns": Step("columns", "table", _columns),
    "drop_columns": Step("columns", "table", _without),
    "rename_column": Step("columns", "table", _rename),
    "compute": Step("compute", "table", _compute),
}  # fmt: skip
"""The recipes. `{rows}` is what the rows are called; `{trait}` and `_any` conditions take the data."""
