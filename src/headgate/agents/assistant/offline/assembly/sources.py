"""Where a flow's input comes from; each source is made once."""

from headgate.agents.assistant.offline.assembly.columns import PACKAGES
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.features.catalog.words import word_set

_TABULAR = word_set("csv spreadsheet sheet excel table dataset kalkylark kalkylarket csvfilen upload")
_CHAT = frozenset(["message", "chat", "meddelande", "meddelandet"])


def source(shop: Workshop, operation: Operation) -> Value:
    """The value of a source that a clause names."""
    sense = str(operation.slots["sense"])
    if sense == "s.url":
        return _page(shop, operation)
    known = find_source(shop, sense)
    if known is not None:
        return known
    return make_source(
        shop, sense, word=str(operation.slots.get("word", "")), fields=list(operation.slots.get("fields") or ())
    )


def find_source(shop: Workshop, sense: str) -> Value | None:
    """The source of a kind when there is one already."""
    return next((value for value in shop.values if value.source == sense), None)


def make_source(shop: Workshop, sense: str, *, word: str = "", fields: list[str] | None = None) -> Value:
    """A new source."""
    draft = shop.draft
    if sense == "s.packages":
        node = draft.add("InstalledPackages", "packages")
        tags = word_set("package packages library libraries dependencies modules")
        made = Value("table", node, "table", tags, "packages", columns=PACKAGES, source=sense)
    elif sense == "s.form":
        node = draft.add("FormInput", "form")
        made = Value("record", node, "data", frozenset({"form", "answers"}), "form", source=sense)
    elif sense == "s.file":
        node = draft.add("FileInput", "file", {}, "Uploaded file")
        made = Value("file", node, "file", frozenset({"file", "document", "upload"}), "file", source=sense)
    elif sense == "s.history":
        node = draft.add("MessageHistory", "history")
        made = Value("text", node, "text", frozenset({"history", "messages"}), "history", source=sense)
    elif word in _CHAT:
        node = draft.add("ChatInput", "message")
        made = Value("text", node, "text", frozenset({"message", "text", "input"}), "message", source="s.text")
    else:
        node = draft.add("TextInput", "text", {}, "Text")
        made = Value("text", node, "text", frozenset({"text", "input", "message"}), "text", source="s.text")
    made.result = False
    for name in fields or ():
        draft.ask_for(name)
    return shop.keep(made)


def _page(shop: Workshop, operation: Operation) -> Value:
    url = str(operation.slots["url"])
    if operation.slots.get("service"):
        params = {"url": url}
        if operation.slots.get("method") not in {"", "GET", None}:
            params["method"] = str(operation.slots["method"])
        node = shop.draft.add("HTTPRequest", "request", params, f"Call {url.partition('//')[2][:40]}")
        tags = word_set("answer response json data api page")
        return shop.keep(Value("data", node, "data", tags, "answer", text_port="text", source="s.url", result=True))
    label = f"Fetch {url.partition('//')[2][:40]}"
    if shop.pending_wait is not None:
        node = _later_page(shop, url, label)
    else:
        node = shop.draft.add("URL", "page", {"url": url}, label)
    tags = word_set("page website site text content article")
    return shop.keep(Value("text", node, "text", tags, "page", source="s.url"))


def _later_page(shop: Workshop, url: str, label: str) -> str:
    """A page fetched after a wait: its address comes through the wait."""
    address = shop.draft.add("TextInput", "address", {"text": url}, "Address")
    wait = shop.draft.add("Wait", "wait", {"seconds": shop.take_wait()}, "Wait")
    node = shop.draft.add("URL", "page", {}, label)
    shop.draft.connect(address, "text", wait, "value")
    shop.draft.connect(wait, "value", node, "url")
    return node


def is_spoken_of_as_table(shop: Workshop, operation: Operation) -> bool:
    """Whether a file is spoken of as rows and columns."""
    words = {
        shop.reading.tokens[at].word
        for at in range(max(0, operation.start - 2), min(len(shop.reading), operation.end + 3))
    }
    return bool(words & _TABULAR) and not words & {"text", "log", "pdf"}
