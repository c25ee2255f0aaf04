"""The steps of the flow at hand as values that new steps can go on from."""

from headgate.agents.assistant.offline.assembly.columns import PACKAGES
from headgate.agents.assistant.offline.assembly.targets import TARGETS, names_of
from headgate.agents.assistant.offline.assembly.values import Kind, Value
from headgate.features.catalog.words import base_forms, words
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog

_KINDS: dict[str, tuple[Kind, str, str]] = {
    "TextInput": ("text", "text", "s.text"),
    "ChatInput": ("text", "text", "s.text"),
    "FormInput": ("record", "data", "s.form"),
    "FileInput": ("file", "file", "s.file"),
    "InstalledPackages": ("table", "table", "s.packages"),
    "URL": ("text", "text", "s.url"),
    "HTTPRequest": ("data", "data", "s.url"),
    "ReadFile": ("text", "text", ""),
    "PromptTemplate": ("text", "text", ""),
    "CombineText": ("text", "text", ""),
    "Merge": ("text", "text", ""),
    "AIStep": ("text", "output", ""),
    "LanguageModel": ("text", "text", ""),
    "Agent": ("text", "response", ""),
    "TableQuery": ("table", "table", ""),
    "Calculator": ("number", "result", ""),
    "CurrentDate": ("text", "text", ""),
    "SplitText": ("items", "chunks", ""),
    "SelectData": ("data", "data", ""),
    "ParseJSON": ("data", "data", ""),
    "Map": ("data", "results", ""),
    "Wait": ("data", "value", ""),
    "StructuredOutput": ("data", "data", ""),
    "MessageHistory": ("text", "text", "s.history"),
}
_WITH_TEXT = frozenset({"HTTPRequest", "SelectData", "Calculator", "Map"})


def values_of(flow: Flow, catalog: Catalog) -> list[Value]:
    """A value for every step that gives one, in the flow's order."""
    found: list[Value] = []
    for node in flow.nodes:
        value = value_of(flow, node, catalog, found)
        if value is not None:
            found.append(value)
    return found


def value_of(flow: Flow, node: Node, catalog: Catalog, before: list[Value]) -> Value | None:
    """What a step gives; None for outputs and branches."""
    spoken = f"{node.id} {node.label}"
    tags = frozenset(form for word in words(spoken) for form in base_forms(word)) | {node.type.lower()}
    if node.type == "Regex":
        return _regex_value(node, tags)
    if node.type not in _KINDS:
        return _unknown(node, catalog, tags)
    kind, port, source = _KINDS[node.type]
    value = Value(kind, node.id, port, tags, node.label or node.id, source=source, consumed=True)
    value.text_port = "text" if node.type in _WITH_TEXT else ""
    if node.type == "InstalledPackages":
        value.columns = PACKAGES
    if node.type == "SplitText":
        value.unit = {"line": "u.line", "sentence": "u.sentence", "paragraph": "u.paragraph"}.get(
            str(node.params.get("by")), "u.part"
        )
        value.tags |= set(names_of(value.unit))
    if node.type == "Wait":
        origin = next((edge.source for edge in flow.incoming(node.id)), "")
        brought = next((one for one in before if one.node == origin), None)
        if brought is not None:
            value.kind, value.unit, value.columns = brought.kind, brought.unit, brought.columns
    return value


def _regex_value(node: Node, tags: frozenset[str]) -> Value:
    if node.params.get("mode") in {"replace", "extract", "test"}:
        return Value("text", node.id, "text", tags, node.label or node.id, consumed=True)
    pattern = str(node.params.get("pattern", ""))
    unit = next((sense for sense, target in TARGETS.items() if target.pattern == pattern), "")
    if not unit and "@" in pattern:
        unit = "t.email"
    tags |= set(names_of(unit)) | {"addresses", "address", "matches"} if unit else frozenset({"matches"})
    return Value("items", node.id, "matches", tags, node.label or node.id, unit=unit, text_port="text", consumed=True)


def _unknown(node: Node, catalog: Catalog, tags: frozenset[str]) -> Value | None:
    """A component this package has no rules for: its main output, unless that is a branch."""
    template = catalog.template(node.type, node.params)
    main = template.main_output if template is not None else None
    if template is None or main is None or main.branch or template.effect or node.type == "ChatOutput":
        return None
    kinds: dict[str, Kind] = {"Text": "text", "Message": "text", "Table": "table", "File": "file"}
    return Value(kinds.get(main.type.value, "data"), node.id, main.name, tags, node.label or node.id, consumed=True)
