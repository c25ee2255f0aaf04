"""Rows by their place among others: the second most expensive, the first of each group, the group with the fewest."""

from headgate.agents.assistant.offline.build.work import Work, quoted_column
from headgate.agents.assistant.offline.reading.words import Order
from headgate.agents.assistant.offline.recipe import Slots, Step

ALL = "SELECT * FROM t1 AS t"


def sort_key(column: str) -> str:
    """A column as it is sorted by: texts without regard to case."""
    return f"{quoted_column(column)} COLLATE NOCASE"


def alias(name: str) -> str:
    """The name of a column of a result, in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _sorting(work: Work, slots: Slots) -> str:
    """What rows are sorted by, in SQL. Raises `CannotBuild` where no column is named."""
    order: Order = slots.get("adjective") or slots.get("direction") or Order(descending=True)
    column = slots["column"].name if "column" in slots else next(iter(order.columns), "")
    if not column:
        raise work.cannot("sort_by_which_column")
    work.hints.column(column)
    return f"{sort_key(column)} {'DESC' if order.descending else 'ASC'}, t.rowid"


def _first_per_group(work: Work, order: str, slots: Slots) -> None:
    work.table()
    group = slots["group"].name
    work.hints.column(group, "a", "b")
    places = f"SELECT t.rowid AS id, row_number() OVER (PARTITION BY {quoted_column(group)} ORDER BY {order}) AS place FROM t1 AS t"  # noqa: E501, S608
    chosen = f"SELECT id FROM ({places}) WHERE place <= {int(slots.get('number', 1))}"  # noqa: S608
    work.query("top", f"{ALL} WHERE t.rowid IN ({chosen})")


def _nth_top(work: Work, slots: Slots) -> Slots:
    number = int(slots.get("number", 2))
    work.table()
    work.query("sort", f"{ALL} ORDER BY {_sorting(work, slots)} LIMIT 1 OFFSET {number - 1}")
    return {"number": number}


def _extreme_group(work: Work, slots: Slots, chosen: str) -> None:
    """The groups with the most or fewest rows; a group of which no row meets the condition has 0."""
    work.table()
    group, name = slots["group"].name, work.text_of("count")
    work.hints.column(group, "a", "a", "b")
    where = slots["condition"].sql() if "condition" in slots else "1"
    column = quoted_column(group)
    counts = f"SELECT {column} AS {alias(group)}, sum(CASE WHEN {where} THEN 1 ELSE 0 END) AS {alias(name)} FROM t1 AS t GROUP BY {column}"  # noqa: E501, S608
    sql = f"WITH g AS ({counts}) SELECT * FROM g WHERE {alias(name)} = (SELECT {chosen}({alias(name)}) FROM g)"  # noqa: S608
    work.query("group", sql, kind="table", columns=(group, name))


PLACES: dict[str, Step] = {
    "top_per_group": Step("limit", "table", lambda work, slots: _first_per_group(work, _sorting(work, slots), slots)),
    "first_per_group": Step("limit", "table", lambda work, slots: _first_per_group(work, "t.rowid", slots)),
    "nth_top": Step("limit", "table", _nth_top),
    "most_in_group": Step("group", "table", lambda work, slots: _extreme_group(work, slots, "max")),
    "fewest_in_group": Step("group", "table", lambda work, slots: _extreme_group(work, slots, "min")),
}
