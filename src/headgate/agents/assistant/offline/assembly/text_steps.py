"""Steps on texts and lists: cut, replace, mask, filter, sort, limit, number, join."""

from collections.abc import Callable

from pydantic import JsonValue

from headgate.agents.assistant.offline.assembly import jmes
from headgate.agents.assistant.offline.assembly.shapes import as_items, as_table, as_text, derive, query_on, select
from headgate.agents.assistant.offline.assembly.targets import TARGETS, names_of
from headgate.agents.assistant.offline.assembly.values import Query, Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.features.catalog.words import word_set

_SPECIAL = frozenset(r".^$*+?()[]{}|\/")
_GONE = {"t.space": " "}
"""What is left where something is removed, when not nothing."""


def escaped(text: str) -> str:
    """A text as an RE2 pattern that matches just it."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in text)


def regex(shop: Workshop, value: Value, pattern: str, label: str, **params: str | bool) -> Value:
    """A Regex step on a value's text."""
    node_text, port = as_text(shop, value)
    node = shop.draft.add("Regex", label, {"pattern": pattern, **params}, label)
    shop.draft.connect(node_text, port, node, "text")
    return shop.keep(Value("text", node, "text", frozenset({"text", "result"}), label, of_branch=value.of_branch))


def replace(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`replace cat with dog`, `replace all dates by ...`."""
    old, new = operation.slots["old"], str(operation.slots["new"]).replace("\\", "\\\\")
    pattern = "|".join(TARGETS[sense].pattern for sense in old) if isinstance(old, list) else escaped(str(old))
    shown = ", ".join(names_of(sense)[1] for sense in old) if isinstance(old, list) else old
    return regex(shop, value, pattern, f"Replace {shown}", mode="replace", replacement=new)


def mask(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`mask all phone numbers`: one step for each kind, so that each gets its own mark."""
    what = operation.slots["what"]
    if not isinstance(what, list):
        return regex(shop, value, escaped(str(what)), f"Mask {what}", mode="replace", replacement="***")
    for sense in what:
        singular, plural = names_of(sense)
        value = regex(
            shop, value, TARGETS[sense].pattern, f"Mask {plural}", mode="replace", replacement=f"[{singular}]"
        )
    return value


def strip(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`remove all html tags`, `remove "foo"`."""
    if "text" in operation.slots:
        return regex(shop, value, escaped(str(operation.slots["text"])), "Remove text", mode="replace", replacement="")
    for sense in operation.slots["what"]:
        if sense == "t.blank":
            value = blank(shop, value, operation)
        else:
            params = {"mode": "replace", "replacement": _GONE.get(sense, "")}
            value = regex(shop, value, TARGETS[sense].pattern, f"Remove {names_of(sense)[1]}", **params)
    return value


def blank(shop: Workshop, value: Value, _operation: Operation) -> Value:
    """`drop empty lines`: cutting into lines leaves them out."""
    return derive(shop, value, "u.line") if value.kind != "items" else value


def split(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`into sentences`, `at commas`, `every 100 characters`."""
    slots = operation.slots
    units = slots.get("unit")
    if units:
        return derive(shop, value, units[0])
    params: dict[str, JsonValue]
    if "size" in slots:
        params = {"by": "length", "size": max(1, int(slots["size"]))}
        label = f"Cut every {params['size']} characters"
    else:
        params = {"by": "separator", "separator": str(slots["separator"]).replace("\n", "\\n").replace("\t", "\\t")}
        label = f"Cut at {slots['separator'].strip() or 'spaces'}"
    node_text, port = as_text(shop, value)
    node = shop.draft.add("SplitText", "parts", params, label)
    shop.draft.connect(node_text, port, node, "text")
    tags = word_set("part parts pieces piece chunk chunks items values list")
    return shop.keep(Value("items", node, "chunks", tags, "parts", unit="u.part", of_branch=value.of_branch))


def filter_items(shop: Workshop, value: Value, condition: Condition, *, keep: bool) -> Value:
    """The items that fit; a text is looked at line by line."""
    items = as_items(shop, value)
    singular, plural = names_of(items.unit)
    wanted = "" if condition.value is None else str(condition.value)
    label = f"{plural} {'with' if keep ^ condition.negated else 'without'} {wanted}".strip()
    words = frozenset(wanted.lower().split()) | {f"{word}s" for word in wanted.lower().split()}
    if condition.operator == "matches":
        made = regex(shop, items, f"(?m)^.*(?:{wanted}).*$", label)
        made.kind, made.port, made.text_port = "items", "matches", "text"
    else:
        node = select(shop, items, jmes.items_filter(condition, keep=keep), label)
        made = shop.keep(items.like(node=node, port="data", text_port="", plain=False, result=True))
    made.tags = items.tags | words | {"matches", "hits", "rest", singular, plural}
    made.unit, made.label = items.unit, label
    return made


def limit(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`the first 5 lines`, `the last one`."""
    items = as_items(shop, value)
    count = int(operation.slots["n"])
    first = operation.slots.get("which") != "last"
    label = f"{'First' if first else 'Last'} {count} {names_of(items.unit)[1]}"
    start = max(0, int(operation.slots.get("from") or 1) - 1)
    part = f"[{start or ''}:{count}]" if first else f"[-{count}:]"
    node = select(shop, items, part, label)
    return shop.keep(items.like(node=node, port="data", text_port="", label=label))


def sort(shop: Workshop, value: Value, *, descending: bool) -> Value:
    """A list in order: numbers by value, texts by alphabet."""
    items = as_items(shop, value)
    expression = "sort_by(@, &to_number(@))" if items.unit == "t.number" else "sort(@)"
    node = select(
        shop, items, f"reverse({expression})" if descending else expression, f"Sort {names_of(items.unit)[1]}"
    )
    return shop.keep(items.like(node=node, port="data", text_port=""))


def by_length(shop: Workshop, value: Value, count: int | None, *, descending: bool) -> Value:
    """`the longest lines`, `the largest numbers`."""
    items = as_items(shop, value)
    key = "to_number(@)" if items.unit == "t.number" else "length(@)"
    expression = f"sort_by(@, &{key})"
    expression = f"reverse({expression})" if descending else expression
    expression = expression if count is None else f"{expression}[:{count}]"
    node = select(shop, items, expression, f"{'Largest' if descending else 'Smallest'} {names_of(items.unit)[1]}")
    return shop.keep(items.like(node=node, port="data", text_port=""))


def distinct(shop: Workshop, value: Value, _operation: Operation) -> Value:
    """Each item once, in order of first appearance."""
    table = as_table(shop, as_items(shop, value))
    return query_on(
        shop, table, Query(select=(table.single or "*",), distinct=True), label=f"Distinct {names_of(table.unit)[1]}"
    )


def tally(shop: Workshop, value: Value) -> Value:
    """How often each item occurs, most frequent first. Words count without regard to case."""
    items = as_items(shop, value, "u.word") if value.kind in {"text", "file"} else as_items(shop, value)
    table = as_table(shop, items)
    column = table.single or "value"
    shown = f"lower({column})" if items.unit == "u.word" else column
    query = Query(
        select=(f"{shown} AS {column}", "count(*) AS count"),
        group=(shown,),
        order=("count DESC", column),
        aggregated=True,
    )
    tags = frozenset({"count", "counts", "table", "frequency", "frequencies", column, f"{column}s"})
    return query_on(
        shop,
        table,
        query,
        columns=(column, "count"),
        single="",
        tags=tags,
        label=f"Count each {column}",
        last_column=column,
    )


def rows_as_text(shop: Workshop, value: Value, expression: str, label: str) -> Value:
    """A list in which SQL made each text anew."""
    table = as_table(shop, as_items(shop, value))
    column = table.single or "value"
    made = query_on(shop, table, Query(select=(f"{expression.format(column=column)} AS {column}",)), label=label)
    made.single, made.columns, made.unit = column, (column,), table.unit
    return made


def number(shop: Workshop, value: Value, _operation: Operation) -> Value:
    """`number them`: 1. 2. 3."""
    return rows_as_text(shop, value, "(row_number() OVER ()) || '. ' || {column}", "Number the items")


def each_as(shop: Workshop, value: Value, template: str, label: str) -> Value:
    """A text made of each item by a template."""
    items = as_items(shop, value)
    node = shop.draft.add("Map", label, {"template": template}, label)
    shop.draft.connect(items.node, items.port, node, "items")
    shop.use(value)
    return shop.keep(items.like(node=node, port="results", text_port="", label=label, plain=False))


def bullets(shop: Workshop, value: Value, _operation: Operation) -> Value:
    """A list with a dash before each item."""
    return each_as(shop, value, "- {item}", "Bulleted list")


def prefix(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`make every line start with a dash`."""
    mark = str(operation.slots["prefix"])
    return each_as(shop, value, f"{mark}{'' if mark.endswith(' ') else ' '}{{item}}", "Put before each item")


def reverse(shop: Workshop, value: Value, _operation: Operation) -> Value:
    """A list from its end to its beginning."""
    items = as_items(shop, value)
    node = select(shop, items, "reverse(@)", "Reverse the order")
    return shop.keep(items.like(node=node, port="data", text_port="", plain=False))


def change_case(shop: Workshop, value: Value, operation: Operation) -> Value:
    """Upper or lower case."""
    to = str(operation.slots["to"])
    return rows_as_text(shop, value, to + "({column})", f"To {to} case")


def join(shop: Workshop, value: Value, operation: Operation) -> Value:
    """A list as one text with a separator."""
    separator = str(operation.slots.get("separator", ", "))
    if operation.slots.get("passive") and value.kind in {"text", "file"}:
        return split(shop, value, operation)
    items = as_items(shop, value, "u.line")
    node, port = as_text(shop, items if items.kind == "items" else value, separator)
    if separator == "\n" and port != "text":
        port = "text"
    return shop.keep(
        Value("text", node, port, frozenset({"text", "line", "list"}), "joined", of_branch=value.of_branch)
    )


Step = Callable[[Workshop, Value, Operation], Value]
STEPS: dict[str, Step] = {
    "replace": replace,
    "mask": mask,
    "strip": strip,
    "blank": blank,
    "split": split,
    "number": number,
    "bullets": bullets,
    "prefix": prefix,
    "reverse": reverse,
    "case": change_case,
    "join": join,
}
"""Steps that treat one value by itself, by operation."""
