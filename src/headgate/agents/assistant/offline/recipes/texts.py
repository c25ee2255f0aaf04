"""What can be done with a text: its lines, words and sentences, and what can be found in it by its form."""

from pydantic import JsonValue

from headgate.agents.assistant.offline.build.work import Cursor, Work, json_literal, literal, member, quoted_column
from headgate.agents.assistant.offline.reading import units
from headgate.agents.assistant.offline.reading.conditions import Condition
from headgate.agents.assistant.offline.reading.kinds import Kind
from headgate.agents.assistant.offline.reading.units import Unit
from headgate.agents.assistant.offline.recipe import Build, Slots, Step
from headgate.agents.assistant.offline.recipes.places import ALL, sort_key
from headgate.agents.assistant.offline.recipes.tables import (
    BUT_LAST,
    FIRST,
    LAST,
    NTH,
    REST,
    chosen,
    count_rows,
    keep_where,
)


def _listed(work: Work, slots: Slots) -> None:
    """The value as the parts of a text: of the unit that was named, else as it is."""
    cursor = work.begin()
    unit: Unit | None = slots.get("unit")
    if cursor.kind not in {"items", "table"} or (
        unit is not None and cursor.kind == "items" and unit.key != cursor.column and unit is not units.LINE
    ):
        work.items(unit)


def _keep(work: Work, slots: Slots) -> None:
    _listed(work, slots)
    _own(work, slots["condition"])
    keep_where(work, slots["condition"])


def _own(work: Work, condition: Condition) -> None:
    if any(test.column for test in condition.tests):
        raise work.cannot("lines_without_columns")


def _drop(work: Work, slots: Slots) -> None:
    _listed(work, slots)
    _own(work, slots["condition"])
    try:
        keep_where(work, slots["condition"].negated)
    except KeyError as error:
        raise work.cannot("say_which_to_keep") from error


def _count_where(work: Work, slots: Slots) -> None:
    _keep(work, slots)
    count_rows(work)


def _sort(work: Work, slots: Slots) -> None:
    _listed(work, slots)
    order = slots.get("direction")
    down = " DESC" if order is not None and order.descending else ""
    cursor = work.table()
    key = sort_key(cursor.column)
    if cursor.column in {"number", "digit"}:
        key = f"CAST({quoted_column(cursor.column)} AS REAL)"
    work.query("sort", f"{ALL} ORDER BY {key}{down}")


def _sql(name: str, sql: str) -> Build:
    return chosen(name, sql, _listed)


def _extract(work: Work, slots: Slots) -> None:
    kinds: tuple[Kind, ...] = slots["kinds"]
    text = work.text()
    columns = []
    for kind in kinds:
        label = kind.name(work.context.language).capitalize()
        params = {"pattern": kind.pattern, "mode": "find"}
        node = work.draft.add_after(text, "Regex", kind.key + "s", params, "text", label=label)
        work.hints.texts.append(kind.example)
        columns.append(work.rows_of(node, "matches", kind.key, label))
    work.results += columns[:-1]


def _count_kind(work: Work, slots: Slots) -> None:
    if len(slots["kinds"]) > 1:
        raise work.cannot("count_one_thing")
    _extract(work, slots)
    count_rows(work)


def _sum_numbers(work: Work, _slots: Slots) -> None:
    from_numbers = work.context.read("kinds", work.text_of("numbers"))
    _extract(work, {"kinds": from_numbers})
    column = quoted_column("number")
    work.query("sum", f"SELECT coalesce(sum(CAST(replace({column}, ',', '.') AS REAL)), 0) AS n FROM t", kind="table")  # noqa: S608
    node = work.select(work.table(), "[0].n", "number")
    work.set("number", node, "data")


def _replace(work: Work, pattern: str, replacement: str, name: str, *, ignore_case: bool = False) -> None:
    """A replacement in the text; what was one item a line becomes text again."""
    params: dict[str, JsonValue] = {"pattern": pattern, "mode": "replace"}
    params |= {"replacement": replacement.replace("\\", "\\\\"), **({"ignore_case": True} if ignore_case else {})}
    work.set("text", work.draft.add_after(work.text(), "Regex", name, params, "text"), "text")
    work.hints.changes = True


def _mask(work: Work, slots: Slots) -> None:
    for kind in slots["kinds"]:
        work.hints.texts.append(kind.example)
        mark = slots.get("mark") or f"[{_singular(kind, work)}]"
        _replace(work, kind.pattern, mark, f"mask_{kind.key}")


def _singular(kind: Kind, work: Work) -> str:
    if work.sv:
        return kind.swedish[1] if len(kind.swedish) > 1 else kind.swedish[0]
    return kind.key.replace("_", " ")


def _swap(work: Work, slots: Slots) -> None:
    work.hints.texts.append(slots["old"])
    _replace(work, escaped(slots["old"]), slots["new"], "replace")


def _mask_word(work: Work, slots: Slots) -> None:
    work.hints.texts.append(slots["old"])
    _replace(work, escaped(slots["old"]), "***", "mask", ignore_case=True)


def _cut(work: Work, slots: Slots) -> None:
    work.hints.texts.append(slots["old"])
    _replace(work, escaped(slots["old"]), "", "remove")


def escaped(text: str) -> str:
    """A text as an RE2 pattern that matches it alone."""
    return "".join(f"\\{char}" if char in r"\.^$*+?{}[]|()-" else char for char in text)


def _remove_kinds(work: Work, slots: Slots) -> None:
    for kind in slots["kinds"]:
        work.hints.texts.append(kind.example)
        _replace(work, kind.pattern, "", f"remove_{kind.key}")


def _blank_lines(work: Work, _slots: Slots) -> None:
    _replace(work, r"(?m:^[ \t]*\r?\n)|(?:\r?\n[ \t]*)+\z", "", "no_blank_lines")
    work.hints.texts.append("a\n\nb")


def _case(method: str) -> Build:
    def build(work: Work, _slots: Slots) -> None:
        source = f"def run(inputs):\n    return str(inputs).{method}()\n"
        node = work.draft.add_after(work.text(), "Python", f"{method}_case", {"source": source}, "inputs")
        work.set("text", node, "text")
        work.hints.changes = True

    return build


def _split_into(work: Work, slots: Slots) -> None:
    work.items(slots["unit"])


def _split_at(work: Work, slots: Slots) -> None:
    separator = slots["sign"]
    work.hints.texts.append(f"a{separator}b")
    params = {"by": "separator", "separator": separator}
    node = work.draft.add_after(work.text(), "SplitText", "pieces", params, "text")
    work.rows_of(node, "chunks", "piece")


def _join(work: Work, slots: Slots) -> None:
    cursor = work.begin()
    if cursor.kind != "items":
        cursor = work.items(units.LINE)
    separator = slots["sign"]
    node = work.select(cursor, f"join({json_literal(separator)}, [].to_string({member(cursor.column)}))", "joined")
    work.set("text", node, "text")


def _count_units(work: Work, slots: Slots) -> None:
    unit: Unit = slots["unit"]
    cursor = work.begin()
    if not (cursor.kind == "items" and cursor.column == unit.key):
        work.items(unit)
    count_rows(work)


def _count_several(work: Work, slots: Slots) -> None:
    source = work.begin()
    made = []
    for unit in slots["units"]:
        work.cursor = source
        _count_units(work, {"unit": unit})
        name = unit.name(work.context.language).capitalize()
        text = work.draft.add("PromptTemplate", f"{unit.key}_count", {"template": f"{name}: {{number}}"}, name)
        work.draft.connect(*work.text(), text, "number")
        work.set("text", text, "text")
        made.append(work.begin())
    work.results += made[:-1]


def _frequency(work: Work, slots: Slots) -> None:
    unit: Unit = slots.get("unit") or units.WORD
    cursor = work.begin()
    if not (cursor.kind == "items" and cursor.column == unit.key):
        cursor = work.items(unit)
    column = quoted_column(cursor.column)
    count = work.text_of("count")
    value = f"lower({column})" if unit is units.WORD else column
    limit = f" LIMIT {int(slots['number'])}" if "number" in slots else ""
    work.query(
        "frequency",
        f'SELECT {value} AS "{cursor.column}", count(*) AS "{count}" FROM t1 AS t GROUP BY 1 ORDER BY 2 DESC, 1{limit}',  # noqa: S608
        kind="table", columns=(cursor.column, count),
    )  # fmt: skip


def _occurrences(work: Work, slots: Slots) -> None:
    work.hints.texts.append(slots["old"])
    params: dict[str, JsonValue] = {"pattern": escaped(slots["old"]), "mode": "find", "ignore_case": True}
    node = work.draft.add_after(work.text(), "Regex", "occurrences", params, "text")
    work.set("number", work.select(Cursor("data", node, "matches"), "length(@)", "count"), "data")


def _number(work: Work, slots: Slots) -> None:
    _listed(work, slots)
    cursor = work.table()
    column = quoted_column(cursor.column)
    work.query(
        "number",
        f"SELECT row_number() OVER (ORDER BY t.rowid) || '. ' || {column} AS \"{cursor.column}\" FROM t1 AS t ORDER BY t.rowid",  # noqa: E501, S608
    )


def _prefix(work: Work, slots: Slots) -> None:
    _listed(work, slots)
    cursor = work.table()
    column, sign = quoted_column(cursor.column), literal(slots["sign"])
    value = f"{column} || {sign}" if slots.get("late") else f"{sign} || {column}"
    work.query("mark", f'SELECT {value} AS "{cursor.column}" FROM t')  # noqa: S608


def _first_words(work: Work, slots: Slots) -> None:
    pattern = rf"(?s)^\s*((?:\S+\s+){{0,{int(slots['number']) - 1}}}\S+).*$"
    _replace(work, pattern, "", "first_words")
    node = work.begin().node
    work.draft.configure(node, replacement="\\1")
    work.hints.texts.append(" ".join(["word"] * (int(slots["number"]) + 2)))


TEXTS: dict[str, Step] = {
    "keep_lines": Step("filter", "text", _keep),
    "drop_lines": Step("filter", "text", _drop),
    "count_lines_where": Step("filter", "text", _count_where),
    "sort_lines": Step("sort", "text", _sort),
    "sort_them": Step("sort", "any", _sort),
    "dedupe_lines": Step("dedupe", "text", _sql("dedupe", "SELECT {column} FROM t1 AS t GROUP BY {column} ORDER BY min(t.rowid)")),  # noqa: E501
    "first_lines": Step("limit", "text", _sql("first", FIRST)),
    "at_most_lines": Step("limit", "text", _sql("first", FIRST)),
    "last_lines": Step("limit", "text", _sql("last", LAST)),
    "drop_first_lines": Step("limit", "text", _sql("rest", REST)),
    "drop_last_lines": Step("limit", "text", _sql("rest", BUT_LAST)),
    "nth_lines": Step("limit", "text", _sql("rows", NTH)),
    "longest": Step("limit", "text", _sql("longest", ALL + " ORDER BY length({column}) DESC LIMIT 1")),
    "shortest": Step("limit", "text", _sql("shortest", ALL + " ORDER BY length({column}) LIMIT 1")),
    "reverse_lines": Step("sort", "text", _sql("reverse", ALL + " ORDER BY t.rowid DESC")),
    "number_lines": Step("text", "any", _number),
    "prefix_lines": Step("text", "any", _prefix),
    "suffix_lines": Step("text", "any", lambda work, slots: _prefix(work, {**slots, "late": True})),
    "bullets": Step("text", "any", lambda work, slots: _prefix(work, {**slots, "sign": "- "})),
    "split_into": Step("source", "text", _split_into),
    "split_at": Step("source", "text", _split_at),
    "own_lines": Step("text", "any", lambda work, _slots: work.table()),
    "join": Step("text", "any", _join),
    "extract": Step("source", "text", _extract),
    "count_kind": Step("group", "text", _count_kind),
    "sum_numbers": Step("group", "text", _sum_numbers),
    "mask": Step("text", "text", _mask),
    "replace": Step("text", "text", _swap),
    "mask_word": Step("text", "text", _mask_word),
    "remove_text": Step("text", "text", _cut),
    "remove_kind": Step("text", "text", _remove_kinds),
    "blank_lines": Step("text", "text", _blank_lines),
    "upper": Step("text", "text", _case("upper")),
    "lower": Step("text", "text", _case("lower")),
    "count_units": Step("group", "text", lambda work, slots: _count_units(work, {"unit": units.WORD, **slots})),
    "count_several": Step("group", "text", _count_several),
    "frequency": Step("group", "text", _frequency),
    "most_common": Step("group", "text", _frequency),
    "occurrences": Step("group", "text", _occurrences),
    "first_words": Step("text", "text", _first_words),
}  # fmt: skip
__all__ = ["TEXTS", "escaped"]
