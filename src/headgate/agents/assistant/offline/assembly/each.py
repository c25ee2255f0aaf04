"""What is done on each value of a clause by itself, and the figures taken of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from headgate.agents.assistant.offline.assembly import jmes, table_steps, text_steps
from headgate.agents.assistant.offline.assembly.columns import known_column
from headgate.agents.assistant.offline.assembly.fixed import component_step, model_step, pick, to_data
from headgate.agents.assistant.offline.assembly.planning import Plan
from headgate.agents.assistant.offline.assembly.shapes import as_table, derive, select
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Operation


def on_each(shop: Workshop, values: Sequence[Value], operations: Sequence[Operation]) -> list[Value]:
    """Every operation in turn on every value."""
    found = list(values)
    for operation in operations:
        found = [_one(shop, value, operation) for value in found]
    return found


def _one(shop: Workshop, value: Value, operation: Operation) -> Value:
    step = _STEPS.get(operation.name) or text_steps.STEPS.get(operation.name)
    return step(shop, value, operation) if step is not None else value


def _filter(shop: Workshop, value: Value, operation: Operation) -> Value:
    condition, keep = operation.slots["condition"], bool(operation.slots["keep"])
    shop.last_filter = (value, operation)
    if value.kind == "file" and (condition.column or "tabular" in value.tags):
        value = as_table(shop, value)
    if condition.measure == "times":
        value, condition = text_steps.tally(shop, value), replace(condition, measure="", column="count")
    if table_steps.is_tabular(value):
        return table_steps.filter_rows(shop, value, condition, keep=keep) or _in_any_column(shop, value, operation)
    if value.kind in {"record", "data"}:
        return value
    return text_steps.filter_items(shop, value, condition, keep=keep)


def _in_any_column(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`the rows for Sweden`: no column is named, so every column is looked at."""
    condition, keep = operation.slots["condition"], bool(operation.slots["keep"])
    if condition.operator not in {"is", "contains"} or condition.value is None:
        shop.lacking.append(f"column:{condition.value}")
        return value
    shop.assume(f"I looked for {condition.value} in every column.")
    node = select(shop, value, jmes.row_filter(condition, keep=keep), f"Rows with {condition.value}")
    tags = value.tags | {str(condition.value).lower(), "matches"}
    return shop.keep(value.like(node=node, port="data", query=None, tags=tags, source="", result=True, by=()))


def _dedupe(shop: Workshop, value: Value, operation: Operation) -> Value:
    if table_steps.is_tabular(value):
        return table_steps.distinct_rows(shop, value)
    return text_steps.distinct(shop, value, operation)


def _to_data(shop: Workshop, value: Value, _operation: Operation) -> Value:
    return to_data(shop, value)


def _ordered(step: "Step") -> "Step":
    """Orders and limits make no sense of a single figure; a file in columns is taken as its table."""

    def wrapped(shop: Workshop, value: Value, operation: Operation) -> Value:
        if value.kind in {"number", "record"}:
            return value
        tabular = operation.name == "columns" or "tabular" in value.tags or bool(operation.slots.get("by"))
        return step(shop, as_table(shop, value) if value.kind == "file" and tabular else value, operation)

    return wrapped


def _frequent(shop: Workshop, value: Value, operation: Operation) -> Value:
    return table_steps.frequent(shop, value, operation, descending=not operation.slots.get("rare"))


def _limit(shop: Workshop, value: Value, operation: Operation) -> Value:
    step = table_steps.limit_rows if value.kind == "table" else text_steps.limit
    return step(shop, value, operation)


def _sort(shop: Workshop, value: Value, operation: Operation) -> Value:
    descending = operation.slots.get("descending")
    if value.kind != "table":
        return text_steps.sort(shop, value, descending=bool(descending))
    by = str(operation.slots.get("by") or "") or value.single
    return table_steps.sort_rows(shop, value, by, descending=descending)


def _top(shop: Workshop, value: Value, operation: Operation) -> Value:
    descending = not operation.slots.get("least")
    if value.kind == "table" and not value.single:
        operation = operation if operation.slots.get("by") else _with_column(shop, value, operation)
        mark = shop.reading.find(operation.start, operation.end, "o.most", "o.least")
        word = shop.reading.source(mark.start, mark.end) if mark is not None else ""
        return table_steps.top_rows(shop, value, operation, word, descending=descending)
    count = operation.slots.get("n") or (1 if _is_singular(shop, operation.end) else None)
    return text_steps.by_length(shop, value, int(count) if count else None, descending=descending)


def _with_column(shop: Workshop, value: Value, operation: Operation) -> Operation:
    """`the most files`: the word behind is a column of this table, whatever else it can mean."""
    at = operation.end
    word = shop.reading.tokens[at].word if at < len(shop.reading) else ""
    column = known_column(word, value.columns or ()) if word else ""
    if not column or column == (value.columns or ("",))[0]:
        return operation
    shop.reading.claim(at, at + 1)
    return replace(operation, slots={**operation.slots, "by": column})


def _is_singular(shop: Workshop, at: int) -> bool:
    """`the longest sentence` is one."""
    mark = shop.reading.mark(at, "u.", "t.")
    return mark is not None and not shop.reading.tokens[mark.end - 1].word.endswith(("s", "ar", "er", "na"))


def _columns(shop: Workshop, value: Value, operation: Operation) -> Value:
    words = operation.slots["columns"]
    if value.kind == "data":
        members = ", ".join(f"{jmes.member(word)}: {jmes.member(word)}" for word in words)
        node = select(shop, value, f"[*].{{{members}}}", "Choose fields")
        return shop.keep(value.like(kind="data", node=node, port="data"))
    if value.kind != "table":
        return value
    return table_steps.columns(shop, value, words, only=not operation.slots.get("beside")) or value


Step = Callable[[Workshop, Value, Operation], Value]
_STEPS: dict[str, Step] = {
    "filter": _filter,
    "model": model_step,
    "component": component_step,
    "pick": pick,
    "json": _to_data,
    "dedupe": _dedupe,
    "frequent": _ordered(_frequent),
    "limit": _ordered(_limit),
    "sort": _ordered(_sort),
    "superlative": _ordered(_top),
    "columns": _ordered(_columns),
}


def figures(shop: Workshop, values: Sequence[Value], plan: Plan) -> list[Value]:
    """Counts, sums and averages of each value; the values themselves when none are asked for."""
    if plan.summaries:
        return [made for value in values for made in _figures_of(shop, value, plan)]
    if plan.by is None:
        return list(values)
    grouped = [table_steps.summarise(shop, as_table(shop, value), [Operation("count")], plan.by) for value in values]
    for value in grouped:
        value.implicit = True
    return grouped


def _figures_of(shop: Workshop, value: Value, plan: Plan) -> list[Value]:
    if value.kind == "items" and plan.by:
        by_domain = plan.by[0].startswith("dom")
        return [text_steps.tally(shop, derive(shop, value, "t.domain") if by_domain else value)]
    if any(operation.name == "tally" for operation in plan.summaries) and value.kind != "table":
        return [text_steps.tally(shop, value)]
    tabular = plan.by is not None or any(operation.slots.get("column") for operation in plan.summaries)
    if value.kind == "file" and (tabular or "tabular" in value.tags):
        value = as_table(shop, value)
    if value.kind == "table" and (tabular or not value.single):
        return [_table_figures(shop, value, plan)]
    return [_figure(shop, value, operation) for operation in plan.summaries]


def _figure(shop: Workshop, value: Value, operation: Operation) -> Value:
    if operation.name == "count":
        return table_steps.count_of(shop, value)
    return table_steps.figure_of(shop, value, table_steps.function_of(str(operation.slots.get("function"))))


def _table_figures(shop: Workshop, value: Value, plan: Plan) -> Value:
    only_count = all(operation.name == "count" for operation in plan.summaries)
    by = plan.by
    if by == []:
        column = shop.last_column or value.last_column
        by = [column] if column else []
    if by is None and value.by and value.before is not None and value.query is not None:
        if only_count:
            return value
        value, by = value.before, list(value.by)
    if not by and only_count:
        return table_steps.count_of(shop, value)
    return table_steps.summarise(shop, value, [_with_function(one) for one in plan.summaries], by or [])


def _with_function(operation: Operation) -> Operation:
    function = table_steps.function_of(str(operation.slots.get("function")))
    return replace(operation, slots={**operation.slots, "function": function})
