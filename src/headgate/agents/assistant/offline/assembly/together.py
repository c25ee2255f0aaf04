"""What is done with all results of a clause together: combine, join, wait, say, and put out."""

from collections.abc import Callable, Sequence

from headgate.agents.assistant.offline.assembly import jmes, outputs, text_steps
from headgate.agents.assistant.offline.assembly.fixed import say, wait_first, wait_on
from headgate.agents.assistant.offline.assembly.focus import default_source, loose
from headgate.agents.assistant.offline.assembly.shapes import as_table, select
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Operation


def together(
    shop: Workshop, values: Sequence[Value], operations: Sequence[Operation], *, unspecified: bool
) -> list[Value]:
    """Every operation in turn on the results. `unspecified`: the clause names nothing, so that loose ends count in."""
    found = list(values)
    for operation in operations:
        if operation.name in _PUTTING_OUT and unspecified:
            found = _with_loose(shop, found)
        found = _STEPS[operation.name](shop, found, operation)
    return found


def _or_default(shop: Workshop, values: list[Value]) -> list[Value]:
    return values or loose(shop) or [default_source(shop, None)]


def _with_loose(shop: Workshop, values: list[Value]) -> list[Value]:
    """All results nothing uses yet, when there are several; else the values."""
    others = loose(shop)
    return others if len(others) > 1 else values


def _say(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    if not values and shop.pending_wait is not None:
        values = [wait_first(shop)]
    return [say(shop, values[0] if values else None, operation)]


def _which(shop: Workshop, values: list[Value], _operation: Operation) -> list[Value]:
    """`say which ones`: the names of the rows, or the items themselves."""
    if not values:
        return []
    value = values[0]
    expression = "@"
    if value.kind == "table":
        expression = f"join(', ', [].to_string({jmes.member(_naming_column(value))}))"
    elif value.kind == "items":
        expression = "join(', ', map(&to_string(@), @))"
    node = select(shop, value, expression, "Name them")
    tags = value.tags | {"names", "list"}
    return [shop.keep(Value("text", node, "text", tags, "found", of_branch=True, other=value.other))]


def _naming_column(value: Value) -> str:
    if value.columns and "name" in value.columns:
        return "name"
    return value.single or (value.columns[0] if value.columns else "name")


def _wait(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    """Wait before going on; of several values the last waits, the others are ready by then."""
    if not values:
        shop.pending_wait = operation.slots["seconds"]
        return []
    return [*values[:-1], wait_on(shop, values[-1], operation.slots["seconds"])]


def _heading(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    shop.title = str(operation.slots["text"])
    return values


def _shape(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    """`as a table`: data and lists become rows; everything else is readable as it is."""
    if operation.slots.get("sense") != "f.table":
        return values
    return [shop.keep(as_table(shop, value)) if value.kind == "data" else value for value in values]


def _combine(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    values = _or_default(shop, values)
    values = values if len(values) > 1 else _with_loose(shop, values)
    title, shop.title = shop.title, ""
    if operation.slots.get("report") and len(values) > 1:
        return [outputs.report(shop, values, title=title)]
    return [outputs.combine(shop, values, title=title)]


def _join(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    values = _or_default(shop, values)
    if len(values) > 1:
        return [outputs.combine(shop, values, separator=str(operation.slots.get("separator", "\n\n")))]
    return [text_steps.join(shop, value, operation) for value in values]


def _show(shop: Workshop, values: list[Value], _operation: Operation) -> list[Value]:
    values = _or_default(shop, values)
    outputs.show(shop, values)
    return values


def _send(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    values = _or_default(shop, values)
    outputs.send(shop, values, operation)
    return values


def _save(shop: Workshop, values: list[Value], operation: Operation) -> list[Value]:
    values = _or_default(shop, values)
    if shop.title and not operation.slots.get("called"):
        title, shop.title = shop.title, ""
        values = [outputs.combine(shop, values, title=title)]
    outputs.save(shop, values, operation)
    return values


_PUTTING_OUT = frozenset({"save", "show", "send"})
_STEPS: dict[str, Callable[[Workshop, list[Value], Operation], list[Value]]] = {
    "say": _say,
    "which": _which,
    "wait": _wait,
    "heading": _heading,
    "shape": _shape,
    "combine": _combine,
    "join": _join,
    "show": _show,
    "send": _send,
    "save": _save,
}
