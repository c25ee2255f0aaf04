"""Steps that make a value of their own: constants, dates, calculations, JSON, work for a model."""

import re

from headgate.agents.assistant.offline.assembly import jmes, sql
from headgate.agents.assistant.offline.assembly.shapes import (
    as_table,
    as_text,
    base_of,
    query_on,
    read_file,
    realise,
    select,
)
from headgate.agents.assistant.offline.assembly.sources import find_source
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.features.catalog.words import word_set
from headgate.graph.ports import accepts

_PLACEHOLDER = re.compile(r"\{([^\W\d][\w ]{0,40})\}|\[([^\W\d][\w ]{0,40})\]|<([^\W\d][\w ]{0,40})>")
_SAID = word_set("text message reply answer greeting letter")
_SIGNS = {"v.multiply": "*", "v.plus": "+", "v.minus": "-", "v.divide": "/"}


def say(shop: Workshop, value: Value | None, operation: Operation) -> Value:
    """A text of the flow's own; `{name}` in it is filled from the form."""
    text = str(operation.slots["text"])
    if operation.slots.get("assumed"):
        text = text[:1].upper() + text[1:]
        shop.assume(f"I took '{text}' as the words to give.")
    label = f"Say: {text}"[:60]
    names = {match.group(): next(name for name in match.groups() if name) for match in _PLACEHOLDER.finditer(text)}
    if value is not None and value.of_branch:
        return _in_branch(shop, value, text, names)
    if names or (value is not None and value.source == "s.form"):
        return _template(shop, text, names, label)
    if value is None or value.kind in {"file", "record"} or value.source == "s.text":
        node = shop.draft.add("TextInput", "said", {"text": text}, label)
    elif value.kind == "text":
        params = {"pattern": "(?s)^.*$", "mode": "replace", "replacement": text.replace("\\", "\\\\")}
        node = shop.draft.add("Regex", "said", params, label)
        shop.draft.connect(*as_text(shop, value), node, "text")
    else:
        node = select(shop, value, jmes.literal(text), label)
    return shop.keep(Value("text", node, "text", _SAID, "text"))


def _in_branch(shop: Workshop, value: Value, text: str, names: dict[str, str]) -> Value:
    """A constant on one way of a choice: it hangs on the branch, so that it is skipped with it."""
    ids = {mark: shop.draft.ask_for(name) for mark, name in names.items()} if value.kind == "record" else {}
    expression = jmes.filled(text, ids) if ids else jmes.literal(text)
    node = select(shop, value, expression, f"Say: {text}"[:60])
    return shop.keep(Value("text", node, "text", _SAID, "finding", of_branch=True, other=value.other))


def _template(shop: Workshop, text: str, names: dict[str, str], label: str) -> Value:
    for mark, name in names.items():
        text = text.replace(mark, f"{{{{flow_input.{shop.draft.ask_for(name)}}}}}")
    form = find_source(shop, "s.form")
    if form is not None:
        shop.use(form)
    node = shop.draft.add("PromptTemplate", "letter", {"template": text}, label)
    return shop.keep(Value("text", node, "text", _SAID, "text"))


def wait_on(shop: Workshop, value: Value, seconds: float) -> Value:
    """The value, some seconds later."""
    node = shop.draft.add("Wait", "wait", {"seconds": seconds}, f"Wait {seconds} s")
    if value.kind == "file":
        text_node, port = as_text(shop, value)
        value = Value("text", text_node, port, value.tags, "text")
    source = realise(shop, value)
    shop.use(value)
    shop.draft.connect(source.node, source.port, node, "value")
    return shop.keep(
        value.like(node=node, port="value", query=None, text_port="", source="", columns=value.shown or value.columns)
    )


def wait_first(shop: Workshop) -> Value:
    """A wait that nothing comes before."""
    node = shop.draft.add("Wait", "wait", {"seconds": shop.take_wait()}, "Wait")
    return shop.keep(Value("data", node, "value", frozenset({"value"}), "wait", result=False))


def date(shop: Workshop, operation: Operation) -> Value:
    """Today's date, or the time now."""
    params = {"timezone": str(operation.slots["zone"])} if operation.slots.get("zone") else {}
    words = shop.reading.source(operation.start, operation.end).lower()
    if "time" not in words and "now" not in words and "klock" not in words and "stamp" not in words:
        params["format"] = "%Y-%m-%d"
    node = shop.draft.add("CurrentDate", "today", params, "Now" if "format" not in params else "Today")
    return shop.keep(Value("text", node, "text", frozenset({"date", "time", "today", "day"}), "date"))


def calculate(shop: Workshop, operation: Operation) -> Value:
    """A calculation written out."""
    slots = operation.slots
    if "expression" in slots:
        expression = str(slots["expression"])
    elif "percent" in slots:
        expression = f"{slots['of']} * {slots['percent']} / 100"
    else:
        expression = f"{slots['first']} {_SIGNS[str(slots['sign'])]} {slots['second']}"
    node = shop.draft.add("Calculator", "calculate", {"expression": expression}, f"Calculate {expression}")
    return shop.keep(
        Value(
            "number",
            node,
            "result",
            frozenset({"result", "total", "sum", "number", "answer"}),
            "result",
            text_port="text",
        )
    )


def arithmetic(shop: Workshop, operation: Operation, table: Value | None) -> Value:
    """A calculation with columns of a table, or with fields of the form."""
    left, right = operation.slots.get("left"), operation.slots.get("right")
    sign = str(operation.slots["sign"])
    if left is None and right is None:
        numbers = list(shop.draft.form)
        left, right = [*numbers, None, None][:2]
    if table is not None and sign != "%":
        return _computed_column(shop, table, left, right, sign)
    form = find_source(shop, "s.form")
    if form is not None:
        shop.use(form)
    shown = [_operand(shop, value) for value in (left, right) if value is not None]
    of_first = f"{shown[0]} * {operation.slots.get('percent')} / 100" if shown else ""
    expression = of_first if sign == "%" else f" {sign} ".join(shown)
    node = shop.draft.add("Calculator", "calculate", {"expression": expression}, "Calculate")
    tags = word_set("result total sum product number answer difference vat tax")
    return shop.keep(Value("number", node, "result", tags, "result", text_port="text"))


def _operand(shop: Workshop, value: object) -> str:
    if isinstance(value, int | float):
        return str(value)
    return f"{{{{flow_input.{shop.draft.ask_for(str(value), number=True)}}}}}"


def _computed_column(shop: Workshop, value: Value, left: object, right: object, sign: str) -> Value:
    table, query = base_of(shop, as_table(shop, value))
    parts = [
        part
        if isinstance(part, int | float)
        else sql.name(sql.resolve(str(part), table.columns) or str(part), table.columns)
        for part in (left, right)
    ]
    expression = f" {sign} ".join(str(part) for part in parts)
    made = query.__class__(
        select=("*", f"{expression} AS result"), where=query.where, order=query.order, limit=query.limit
    )
    return query_on(shop, table, made, columns=None, label="Calculate", last_column="result")


def to_data(shop: Workshop, value: Value) -> Value:
    """A text or file of JSON as data."""
    if value.kind in {"data", "record", "table", "items"}:
        return value
    tags = value.tags | {"json", "data", "object"}
    if value.kind == "file":
        shop.use(value)
        return shop.keep(Value("data", read_file(shop, value), "data", tags, "data"))
    node = shop.draft.add("ParseJSON", "parse", {}, "Parse JSON")
    shop.draft.connect(*as_text(shop, value), node, "text")
    return shop.keep(Value("data", node, "data", tags, "data"))


def pick(shop: Workshop, value: Value, operation: Operation) -> Value:
    """`take the field results[0].name`."""
    expression = jmes.path(str(operation.slots["expression"]))
    if value.kind == "record" and value.source == "s.form":
        return value
    data = to_data(shop, value)
    node = select(shop, realise(shop, data), expression, f"Pick {expression}")
    last = expression.rpartition(".")[2].split("[")[0]
    kind = "items" if "[*]" in expression or "[]" in expression else "data"
    tags = frozenset({last, f"{last}s", "field", "value", "names"})
    return shop.keep(Value(kind, node, "data", tags, last or "value", text_port="" if kind == "items" else "text"))  # type: ignore[arg-type]


def component_step(shop: Workshop, value: Value, operation: Operation) -> Value:
    """Any component called by its name: the value goes into its main port, its main output goes on."""
    type_ = str(operation.slots["type"])
    node = shop.draft.add(type_, type_)
    template = shop.draft.catalog.template(type_)
    port = template.main_field if template is not None else None
    if port is not None:
        source = realise(shop, value)
        sender = shop.draft.catalog.template(shop.draft.nodes[source.node].type, shop.draft.nodes[source.node].params)
        output = sender.output(source.port) if sender is not None else None
        direct = output is not None and accepts(output.type, port.types)
        shop.draft.connect(*((source.node, source.port) if direct else as_text(shop, value)), node, port.name)
        shop.use(value)
    main = template.main_output if template is not None else None
    if main is None or (template is not None and template.effect):
        shop.outputs.append(node)
        return value
    kinds = {"Text": "text", "Message": "text", "Table": "table", "File": "file"}
    return shop.keep(Value(kinds.get(main.type.value, "data"), node, main.name, frozenset({type_.lower()}), type_))  # type: ignore[arg-type]


def model_step(shop: Workshop, value: Value, operation: Operation) -> Value:
    """Work that takes judgement, as an AIStep with the clause as its instruction."""
    instruction = str(operation.slots["instruction"]).strip(" ,.")
    instruction = instruction[:1].upper() + instruction[1:]
    if shop.default_model is None:
        shop.needs_model.append(instruction)
        return value
    node = shop.draft.add(
        "AIStep",
        str(operation.slots["sense"]).partition(".")[2],
        {"prompt": f"{instruction}.", "model": shop.default_model},
        instruction,
    )
    shop.draft.connect(*as_text(shop, value), node, "input")
    tags = word_set("summary translation answer reply result text sentiment class category")
    return shop.keep(Value("text", node, "output", tags, str(operation.slots["sense"]).partition(".")[2]))
