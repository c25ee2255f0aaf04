"""The web, JSON, models, other components, and where a result goes."""

import re
from pathlib import PurePath

from pydantic import JsonValue

from headgate.agents.assistant.offline.build.work import CannotBuild, CursorKind, Work
from headgate.agents.assistant.offline.recipe import Build, Slots, Step
from headgate.graph.ports import PortType, accepts
from headgate.graph.template import FieldTemplate

_SAVED = {".txt", ".md", ".csv", ".json", ".html"}
KINDS: dict[str, CursorKind] = {"Text": "text", "Message": "text", "Table": "table", "File": "file"}
"""Types of outputs as what the next step reads."""
_DOCUMENTS = {".pdf": "pdf", ".docx": "docx"}


_SOURCE_WORDS = re.compile(
    r"\b(?:documents?|files?|csv|pages?|form|tables?|dokument\w*|fil\w*|sida\w*|tabell\w*|formulär\w*)\b"
)


class NeedsModel(Exception):
    """A step needs a language model and none is configured; the message is the part of the request that needs it."""


def _fetch(work: Work, slots: Slots) -> None:
    node = work.draft.add("URL", "page", {"url": slots["url"]})
    work.set("text", node, "text")


def _links(work: Work, slots: Slots) -> None:
    if "url" in slots:
        _fetch(work, slots)
    cursor = work.begin()
    if work.draft.nodes[cursor.node].type != "URL":
        raise work.cannot("say_which_page")
    work.set("table", cursor.node, "links", columns=("text", "url"))


def _save_links(work: Work, slots: Slots) -> None:
    _links(work, slots)
    _save(work, slots)


def _api(work: Work, slots: Slots) -> None:
    node = work.draft.add("HTTPRequest", "request", {"url": slots["url"]})
    work.set("data", node, "data")


def _post(work: Work, slots: Slots) -> None:
    cursor = work.begin()
    node = work.draft.add("WebhookOut", "send", {"url": slots["url"]})
    source = (cursor.node, cursor.port) if cursor.kind in {"data", "table", "form"} else work.text()
    work.draft.connect(*source, node, "payload")
    work.ended = True


def _json(work: Work, _slots: Slots) -> None:
    cursor = work.begin()
    if cursor.kind == "data":
        return
    if cursor.kind == "table":
        raise work.cannot("parts_do_not_fit")
    node = work.draft.add("ParseJSON", "parse", {})
    work.draft.connect(*work.text(), node, "text")
    work.set("data", node, "data")


def _field(work: Work, slots: Slots) -> None:
    _json(work, slots)
    work.hints.path = str(slots["path"])
    node = work.select(work.begin(), work.hints.path, "field")
    work.set("data", node, "data")


def _model(work: Work, slots: Slots) -> None:
    model = work.context.default_model
    if "source" not in slots and _SOURCE_WORDS.search(str(slots.get("task", ""))):
        raise work.cannot("say_source_apart")
    instruction = f"{slots['verb']} {slots.get('task', '')}".strip()
    if model is None:
        raise NeedsModel(instruction)
    params = {"prompt": f"{instruction[:1].upper()}{instruction[1:]}.", "model": model}
    node = work.draft.add_after(work.text(), "AIStep", str(slots["verb"]).split()[0], params, "input")
    work.set("text", node, "output")


def _component(work: Work, slots: Slots) -> None:
    """A step of any component of the catalogue: what it takes first is the value at hand."""
    type_ = slots["component"]
    draft, catalog = work.draft, work.context.catalog
    template = catalog.template(type_)
    if template is None:
        raise CannotBuild(f"{type_}?")
    params: dict[str, JsonValue] = {}
    if "field" in slots:
        name = slots["field"]
        field = template.field(name)
        if field is None:
            names = ", ".join(each.name for each in template.fields)
            raise work.cannot("no_such_field", type=type_, name=name, names=names)
        params[name] = slots["value"]
    port = template.main_field
    wants = port is not None and port.name not in params
    ends = _ends_for(work, port) if wants and port is not None else None
    node = draft.add(type_, type_, params)
    if ends is not None and port is not None:
        draft.connect(*ends, node, port.name)
    output = slots.get("output") or (template.main_output.name if template.main_output is not None else "")
    chosen = catalog.template(type_, params).output(output) if output else None  # type: ignore[union-attr]
    if output and chosen is None:
        names = ", ".join(each.name for each in template.outputs)
        raise work.cannot("no_such_output", type=type_, output=output, names=names)
    if template.effect or chosen is None:
        work.ended = True
        return
    work.set(KINDS.get(chosen.type.value, "data"), node, output)


def _ends_for(work: Work, port: FieldTemplate) -> tuple[str, str]:
    """Where the value comes out in a form that an input takes: as it is, as text, as a list, or as a file."""
    if set(port.types) == {PortType.FILE}:
        node = work.draft.add("FileInput", "upload", {}, work.text_of("uploaded_file"))
        return node, "file"
    cursor = work.begin()
    template = work.draft.template(cursor.node)
    output = template.output(cursor.port) if template is not None else None
    if output is not None and accepts(output.type, port.types):
        return cursor.node, cursor.port
    if accepts(PortType.TEXT, port.types):
        return work.text()
    items = work.items()
    return items.node, items.port


def show(work: Work, _slots: Slots) -> None:
    """Show the value, with what was put aside before it."""
    _put_together(work)
    node = work.draft.add("ChatOutput", "show", {}, work.text_of("show"))
    work.draft.connect(*_shown(work), node, "input")
    work.ended = True


def _shown(work: Work) -> tuple[str, str]:
    cursor = work.begin()
    return (cursor.node, cursor.port) if cursor.kind == "table" and cursor.port != "table" else work.text()


def _save(work: Work, slots: Slots) -> None:
    for name in slots["files"]:
        save_as(work, name)


def save_as(work: Work, name: str) -> None:
    """Save the value as a file; the ending says as what. Raises `CannotBuild` for one that cannot be written."""
    _put_together(work)
    ending = PurePath(name).suffix.lower()
    cursor = work.table() if ending == ".csv" and work.source.kind == "json" else work.begin()
    if ending in _DOCUMENTS:
        _document(work, {"format": _DOCUMENTS[ending], "name": PurePath(name).stem})
        return
    if ending not in _SAVED:
        raise work.cannot("unknown_ending", ending=ending)
    rows = (cursor.kind in {"table", "items", "data", "number"} and ending in {".csv", ".json", ".html"}) or (
        cursor.kind == "table" and ending == ".md" and cursor != work.started
    )
    if ending == ".csv" and cursor.kind in {"text", "number"}:
        raise work.cannot("text_is_no_table")
    node = work.draft.add("SaveFile", "save", {"name": name})
    work.draft.connect(*((cursor.node, cursor.port) if rows else work.text()), node, "content")
    work.ended = True


def _put_together(work: Work) -> None:
    """Several values become one text, in their order."""
    if not work.results:
        return
    parts = [*work.results, work.begin()]
    work.results = []
    texts = []
    for part in parts:
        work.cursor = part
        texts.append(work.text())
    node = work.draft.add("CombineText", "together", {"separator": "\n"}, work.text_of("together"))
    for text in texts:
        work.draft.connect(*text, node, "parts")
    work.set("text", node, "text")


def _together(work: Work, _slots: Slots) -> None:
    if not work.results:
        raise work.cannot("nothing_to_put_together")
    _put_together(work)


def _convert(work: Work, slots: Slots) -> None:
    if work.source.kind == "table" or slots["ending"] == "csv":
        work.table()
    save_as(work, slots.get("file") or f"{work.text_of('result')}.{slots['ending']}")


def _document(work: Work, slots: Slots) -> None:
    _put_together(work)
    cursor = work.begin()
    name = slots.get("name") or work.text_of("document")
    params = {"format": slots["format"], "name": PurePath(name).stem}
    node = work.draft.add("MakeDocument", "document", params)
    work.draft.connect(
        *((cursor.node, cursor.port) if cursor.kind == "table" and cursor != work.started else work.text()),
        node,
        "content",
    )
    work.ended = True


def _as_document(format_: str) -> Build:
    return lambda work, slots: _document(work, {"format": format_, "name": slots.get("late", ""), **slots})


def _as_file(ending: str) -> Build:
    return lambda work, slots: _convert(work, {"ending": ending, **slots})


def _with_model(english: str, swedish: str) -> Build:
    return lambda work, slots: _model(work, {"verb": swedish if work.sv else english, **slots})


def _write(work: Work, slots: Slots) -> None:
    _model(work, {"verb": work.text_of("write"), "task": slots["genre"]})


OUTSIDE: dict[str, Step] = {
    "fetch": Step("source", "none", _fetch),
    "links": Step("source", "none", _links),
    "save_links": Step("output", "none", _save_links),
    "api": Step("source", "none", _api),
    "post": Step("output", "any", _post),
    "parse_json": Step("source", "text", _json),
    "json_field": Step("source", "text", _field),
    "model_summarise": Step("text", "text", _with_model("summarise", "sammanfatta")),
    "model_translate": Step("text", "text", _with_model("translate", "översätt")),
    "model_classify": Step("text", "text", _with_model("classify", "klassificera")),
    "model_rewrite": Step("text", "text", _with_model("rewrite", "skriv om")),
    "model_correct": Step("text", "text", _with_model("correct the spelling of", "rätta stavningen i")),
    "model_write": Step("text", "text", _write),
    "model_decide": Step("text", "text", _with_model("decide whether", "avgör om")),
    "component": Step("text", "any", _component),
    "together": Step("combine", "any", _together),
    "show": Step("output", "any", show),
    "save": Step("output", "any", _save),
    "document_pdf": Step("output", "text", _as_document("pdf")),
    "document_word": Step("output", "text", _as_document("docx")),
    "convert_json": Step("output", "any", _as_file("json")),
    "convert_html": Step("output", "any", _as_file("html")),
    "convert_csv": Step("output", "any", _as_file("csv")),
    "convert_md": Step("output", "any", _as_file("md")),
}  # fmt: skip
