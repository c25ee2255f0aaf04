"""Brings a value into the shape that the next step needs: text, a list, a table, a file's content."""

from headgate.agents.assistant.offline.assembly import jmes
from headgate.agents.assistant.offline.assembly.targets import SPLITS, TARGETS, names_of
from headgate.agents.assistant.offline.assembly.values import Query, Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.graph.ports import PortType


def realise(shop: Workshop, value: Value) -> Value:
    """The value as the output of a step: a pending query becomes a TableQuery."""
    if value.query is None:
        return value
    if value.realised is None:
        node = shop.draft.add("TableQuery", value.label or "query", {"sql": value.query.sql()}, value.label)
        shop.draft.connect(value.node, value.port, node, "table")
        value.realised = value.like(
            node=node, port="table", query=None, columns=value.shown or value.columns, shown=None
        )
    return value.realised


def select(shop: Workshop, value: Value, expression: str, label: str) -> str:
    """A SelectData step on a value that is data or a table; its id."""
    source = realise(shop, value)
    node = shop.draft.add("SelectData", label, {"expression": expression}, label)
    shop.draft.connect(source.node, source.port, node, "data")
    shop.use(value)
    return node


def as_text(shop: Workshop, value: Value, separator: str = "\n") -> tuple[str, str]:
    """Node and output that give the value as text people can read."""
    source = realise(shop, value)
    shop.use(value)
    if value.kind == "file":
        return read_file(shop, value), "text"
    if value.kind == "items" and not (value.text_port and separator == "\n"):
        joined = f"join({jmes.literal(separator)}, {_texts(value)})"
        return select(shop, value, joined, f"{_name(value)} as text"), "text"
    if value.kind == "table" and value.single:
        column = jmes.member(value.single)
        joined = f"join({jmes.literal(separator)}, [].to_string({column}))"
        return select(shop, value, joined, f"{_name(value)} as text"), "text"
    if value.kind == "table" and _port_type(shop, source) is PortType.DATA:
        return _as_rows(shop, source), "table"
    return source.node, source.text_port or source.port


def _port_type(shop: Workshop, value: Value) -> PortType | None:
    node = shop.draft.nodes[value.node]
    template = shop.draft.catalog.template(node.type, node.params)
    output = template.output(value.port) if template is not None else None
    return output.type if output is not None else None


def _as_rows(shop: Workshop, value: Value) -> str:
    """Rows that travel as data, as a table people can read."""
    node = shop.draft.add("TableQuery", "table", {"sql": "SELECT * FROM t"}, "As a table")
    shop.draft.connect(value.node, value.port, node, "table")
    return node


def _texts(value: Value) -> str:
    return "map(&to_string(@), @)" if value.unit in {"", "t.number"} else "@"


def _name(value: Value) -> str:
    return names_of(value.unit)[1] if value.unit else value.label or "list"


def as_table(shop: Workshop, value: Value) -> Value:
    """The value as a table that can be queried."""
    if value.kind == "table":
        return value
    shop.use(value)
    if value.kind == "file":
        return shop.keep(value.like(kind="table", node=read_file(shop, value), port="table", source=""))
    if value.kind == "items":
        column = names_of(value.unit)[0]
        node = select(shop, value, f"[*].{{{column}: @}}", f"{_name(value)} as rows")
        return value.like(
            kind="table", node=node, port="data", columns=(column,), single=column, text_port="", query=None
        )
    if value.kind == "record":
        node = select(shop, value, "[@]", "as a row")
        return value.like(kind="table", node=node, port="data", query=None)
    if value.kind == "text":
        node = shop.draft.add("ParseJSON", "parse", {}, "Parse JSON")
        shop.draft.connect(value.node, value.port, node, "text")
        return value.like(kind="table", node=node, port="table", columns=None)
    shop.use(value)
    return value.like(kind="table", columns=None)


def as_items(shop: Workshop, value: Value, unit: str = "u.line") -> Value:
    """The value as a list of texts."""
    if value.kind in {"items", "data"}:
        return value
    if value.kind == "table":
        column = value.single or (value.columns[0] if value.columns else "")
        expression = f"[].{jmes.member(column)}" if column else "[].to_string(@)"
        node = select(shop, value, expression, f"{_name(value)} as a list")
        return value.like(
            kind="items", node=node, port="data", query=None, single="", columns=None, unit=value.unit or unit
        )
    return derive(shop, value, unit)


def read_file(shop: Workshop, value: Value) -> str:
    """The ReadFile step behind a file; one for all that is read from it."""
    for edge in shop.draft.edges:
        if edge.source == value.node and edge.input == "file" and shop.draft.nodes[edge.target].type == "ReadFile":
            return edge.target
    node = shop.draft.add("ReadFile", "read", {}, "Read the file")
    shop.draft.connect(value.node, value.port, node, "file")
    return node


def derive(shop: Workshop, value: Value, sense: str) -> Value:
    """What a text holds of a kind: its lines, the email addresses in it."""
    if value.unit == sense and value.kind in {"items", "table"}:
        return value
    if value.kind == "table" and sense in {"u.line", "u.part"}:
        return value
    if value.kind in {"data", "record"} and sense == "u.part":
        node = select(shop, value, "items || @", "items")
        return shop.keep(
            value.like(kind="data", node=node, port="data", tags=frozenset({"items", "item", "entries"}), unit="")
        )
    singular, plural = names_of(sense)
    node_text, port = as_text(shop, value)
    tags = frozenset({singular, plural, sense, *plural.lower().split(), *singular.split("_"), "list"})
    made = Value(
        kind="items",
        tags=tags,
        label=plural,
        unit=sense,
        of_branch=value.of_branch,
        other=value.other,
        plain=True,
        origin=value,
    )
    if sense in SPLITS:
        node = shop.draft.add("SplitText", plural, {"by": SPLITS[sense]}, plural)
        made.port = "chunks"
    elif sense == "u.part":
        node = shop.draft.add("SplitText", plural, {"by": "line"}, plural)
        made.port = "chunks"
    else:
        node = shop.draft.add("Regex", plural, {"pattern": TARGETS[sense].pattern, "mode": "find"}, f"Find {plural}")
        made.port, made.text_port = "matches", "text"
    shop.draft.connect(node_text, port, node, "text")
    made.node = node
    return shop.keep(made)


def query_on(shop: Workshop, value: Value, query: Query, **changes: object) -> Value:
    """A further query on a table: merged into the pending one when `query` was made from it, else on its result."""
    table = as_table(shop, value)
    shop.use(value)
    return shop.keep(table.like(query=query, text_port="", source="", result=True, plain=False, **changes))


def base_of(shop: Workshop, value: Value) -> tuple[Value, Query]:
    """The table to query and the query so far; a realised or empty query starts afresh."""
    table = as_table(shop, value)
    if table.query is not None and table.realised is None:
        return table, table.query
    return realise(shop, table), Query()
