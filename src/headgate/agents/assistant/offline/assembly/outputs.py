"""Where results go: files, the screen, a web address; and reports of several results."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.assembly.draft import slug
from headgate.agents.assistant.offline.assembly.shapes import as_table, as_text, realise
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.features.catalog.words import word_set
from headgate.graph.names import free_name

_ROWS = frozenset({"csv", "json", "html"})
"""Formats in which a list or table keeps its shape."""


def save(shop: Workshop, values: Sequence[Value], operation: Operation) -> None:
    """Write values into one file; several become a report first."""
    name = str(operation.slots.get("name") or "")
    if (operation.slots.get("called") or _completes(shop, name)) and _rename(shop, name):
        return
    value = values[0] if len(values) == 1 else report(shop, values)
    extension = name.rpartition(".")[2].lower() if name else str(operation.slots.get("extension") or "")
    if value.kind == "file" and extension in _ROWS:
        value = as_table(shop, value)
    if not extension and value.kind == "file":
        shop.use(value)
        return
    if not name:
        extension = extension or _extension_for(value)
        base = str(operation.slots.get("base") or "") or slug(value.label) or "result"
        name = f"{base}.{extension}"
        shop.assume(f"I called the file {name}.")
    node, port = _content(shop, value, extension)
    saved = shop.draft.add("SaveFile", "save", {"name": name}, f"Save {name}")
    shop.draft.connect(node, port, saved, "content")
    shop.outputs.append(saved)
    if not operation.slots.get("name"):
        shop.unsaved.append(saved)


def _completes(shop: Workshop, name: str) -> bool:
    """Whether a name is for the file saved before in the same format without one: `as csv ... save it as x.csv`."""
    if not name or not shop.unsaved:
        return False
    old = str(shop.draft.nodes[shop.unsaved[-1]].params["name"])
    return old.rpartition(".")[2] == name.rpartition(".")[2]


def _rename(shop: Workshop, name: str) -> bool:
    """Give the name to the file saved before under an assumed one: `... as csv. Call it mit.csv`."""
    if not shop.unsaved:
        return False
    node = shop.unsaved.pop()
    old = str(shop.draft.nodes[node].params["name"])
    shop.assumed = [note for note in shop.assumed if old not in note]
    shop.draft.configure(node, name=name)
    shop.draft.nodes[node] = shop.draft.nodes[node].model_copy(update={"label": f"Save {name}"})
    return True


def _extension_for(value: Value) -> str:
    if value.kind == "table" and not value.single:
        return "csv"
    return "json" if value.kind in {"data", "record"} else "md" if value.label == "report" else "txt"


def _content(shop: Workshop, value: Value, extension: str) -> tuple[str, str]:
    """The output that a file of this kind is written from."""
    if value.kind == "table" and not value.single:
        source = realise(shop, value)
        shop.use(value)
        return source.node, source.port
    if extension in _ROWS and value.kind in {"items", "data", "record", "table"}:
        source = realise(shop, as_table(shop, value) if value.kind == "items" and extension == "csv" else value)
        shop.use(value)
        return source.node, source.port
    if extension == "csv" and value.kind == "number":
        shop.use(value)
        return value.node, value.port
    return as_text(shop, value)


def show(shop: Workshop, values: Sequence[Value]) -> None:
    """Show values as the answer of the flow; several become a report first."""
    value = values[0] if len(values) == 1 else report(shop, values)
    node, port = as_text(shop, value)
    shown = shop.draft.add("ChatOutput", "show", {}, f"Show {value.label or 'the result'}")
    shop.draft.connect(node, port, shown, "input")
    shop.outputs.append(shown)


def send(shop: Workshop, values: Sequence[Value], operation: Operation) -> None:
    """Post values to a web address."""
    value = values[0] if len(values) == 1 else report(shop, values)
    source = realise(shop, value)
    node, port = (
        (source.node, source.port) if value.kind in {"data", "record", "items", "number"} else as_text(shop, value)
    )
    shop.use(value)
    sent = shop.draft.add("WebhookOut", "send", {"url": str(operation.slots["url"])}, "Send")
    shop.draft.connect(node, port, sent, "payload")
    shop.outputs.append(sent)


def combine(shop: Workshop, values: Sequence[Value], *, separator: str | None = None, title: str = "") -> Value:
    """Several results as one text: plain texts joined, anything else a report with headings."""
    if len(values) == 1 and not title:
        return values[0]
    values = [_always(shop, value) for value in values]
    plain = all(value.kind == "text" for value in values)
    if separator is None and not plain:
        return report(shop, values, title=title)
    node = shop.draft.add("CombineText", "combine", {}, title or "Combine")
    if separator is not None:
        shop.draft.configure(node, separator=separator.replace("\n", "\\n"))
    if title:
        shop.draft.configure(node, title=title)
    for value in values:
        shop.draft.connect(*as_text(shop, value), node, "parts")
    tags = word_set("text report combined result combination document")
    return shop.keep(Value("text", node, "text", tags, "combined text", of_branch=any(v.of_branch for v in values)))


def _always(shop: Workshop, value: Value) -> Value:
    """The value, or `None` in its place on the way of a choice that does not make it: a report needs all its parts."""
    if not value.of_branch or value.other is None:
        return value
    node, port = value.other
    none = shop.draft.add("SelectData", "nothing", {"expression": "'None'"}, "Say: None")
    shop.draft.connect(node, port, none, "data")
    merged = shop.draft.add("Merge", value.label or "finding", {"mode": "first"}, "Whichever came")
    shop.draft.connect(*as_text(shop, value), merged, "values")
    shop.draft.connect(none, "text", merged, "values")
    return shop.keep(Value("text", merged, "text", value.tags, value.label, consumed=True))


def report(shop: Workshop, values: Sequence[Value], *, title: str = "") -> Value:
    """A Markdown report: one line for each figure, a section for each table, list or text."""
    ports: list[str] = []
    lines: list[str] = [f"# {title}"] if title else []
    values = [_always(shop, value) for value in values]
    for value in values:
        port = free_name(slug(value.label)[:30] or "part", [*ports, "template"])
        ports.append(port)
        heading = value.label[:1].upper() + value.label[1:] or "Result"
        lines.append(f"{heading}: {{{port}}}" if value.kind == "number" else f"## {heading}\n\n{{{port}}}")
    node = shop.draft.add("PromptTemplate", "report", {"template": "\n\n".join(lines) + "\n"}, title or "Report")
    for value, port in zip(values, ports, strict=True):
        shop.draft.connect(*as_text(shop, value), node, port)
    tags = word_set("report text document overview result summary")
    return shop.keep(Value("text", node, "text", tags, "report", of_branch=any(v.of_branch for v in values)))
