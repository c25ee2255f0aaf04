"""Questions about what can be done, about components and about the flow at hand; undoing, and components to be written."""  # noqa: E501

import re
from weakref import WeakKeyDictionary

from headgate.agents.assistant.offline.choices import offered
from headgate.agents.assistant.offline.language.files import pairs
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.slots import Context
from headgate.agents.assistant.offline.replies import NAME
from headgate.agents.assistant.offline.understanding import Action, Intent, Understanding
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.search import WordIndex, component_index
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog, Template
from headgate.toolkit.shown import secret_fields, shown_value

_NO_TOOL = (
    f'The {NAME} cannot do that with files. It can write a file ("write a file notes.md saying ..."), document this'
    ' flow in one, read one, list them ("show my files"), search them ("find \'x\' in my files") and replace text in'
    " one. `headgate workspace remove PATH` removes a file. Files that a run makes are kept with the run."
)
_COMPILED = tuple((kind, re.compile(rf"(?:{form})[\s?.!]*", re.IGNORECASE)) for kind, form in pairs("en", "questions"))
_GREETING = re.compile(
    r"^(?:hello|hi|hey|hej|hallå|good (?:morning|afternoon|evening))(?: there)?[\s,.!]+(?=\S)", re.IGNORECASE
)


def answer(text: str, context: Context) -> Understanding | None:
    """The answer to a question; None when the request is none that can be answered here."""
    question = _GREETING.sub("", " ".join(text.split()))[:400]
    for kind, form in _COMPILED:
        match = form.fullmatch(question)
        understanding = _ANSWERS[kind](match, context) if match is not None else None
        if understanding is not None:
            return understanding
    return None


def _reply(context: Context, text: str, *actions: Action, intent: Intent = "question") -> Understanding:
    return Understanding(intent, text, actions, language=context.language)


def _undo(_match: re.Match[str], context: Context) -> Understanding:
    return _reply(context, "", Action("undo"), intent="edit_flow")


def _component(match: re.Match[str], context: Context) -> Understanding | None:
    """No component is made; the search says which of those that there are comes near."""
    if match.group().lower().startswith(("component", "komponent")):
        return None
    connect = message("connect", context.language)
    reply = message("component_needs_model", context.language, connect=connect)
    query = re.sub(r"^(?:that|which|to|for|som|för)\s+", "", (match["a"] or "").strip())
    search = (Action("search_components", {"query": query[:400]}),) if query else ()
    return _reply(context, reply, *search, intent="generate_component")


def _files(_match: re.Match[str], context: Context) -> Understanding:
    return _reply(context, _NO_TOOL, intent="manage_files")


def _self(_match: re.Match[str], context: Context) -> Understanding:
    return _reply(context, introduce(context.language))


def introduce(language: Language) -> str:
    """What the offline builder is and can do."""
    examples = "\n".join(f"- {example}" for example in offered((), language))
    return message("introduction", language, examples=examples)


def _list(_match: re.Match[str], context: Context) -> Understanding:
    return _reply(context, "These components exist: " + ", ".join(context.catalog.types()) + ".")


def _template(context: Context, name: str | None) -> Template | None:
    type_ = context.read("component", (name or "").lower().strip())
    return context.catalog.template(type_) if type_ else None


def _about(match: re.Match[str], context: Context) -> Understanding | None:
    template = _template(context, match["a"])
    if template is None:
        return None
    return _reply(context, describe(template), Action("describe_component", {"component_type": template.type}))


def _pair(match: re.Match[str], context: Context) -> Understanding | None:
    first, second = _template(context, match["a"] or match["c"]), _template(context, match["b"] or match["d"])
    if first is None or second is None:
        return None
    descriptions = f"{describe(first)}\n\n{describe(second)}"
    return _reply(context, descriptions, Action("describe_component", {"component_type": first.type}))


def describe(template: Template) -> str:
    """A component in a few lines: what it does, its fields, its outputs."""
    lines = [f"{template.type}: {template.description}", "", "Fields:"]
    for field in template.fields:
        needed = " (required)" if field.required else ""
        options = f" One of: {', '.join(field.options)}." if field.options else ""
        lines.append(f"- {field.name}{needed}: {field.help}{options}")
    lines += ["", "Outputs:", *(f"- {output.name} ({output.type.value}): {output.help}" for output in template.outputs)]
    return "\n".join(lines)


def _field(match: re.Match[str], context: Context) -> Understanding | None:
    node = context.flow.node(match["node"].lower())
    template = context.catalog.template(node.type, node.params) if node is not None else None
    field = template.field(match["field"].lower()) if template is not None else None
    if node is None or field is None:
        return None
    hidden = field.name in secret_fields(context.catalog, node.type, node.params)
    value = shown_value(node.params.get(field.name, field.default), hidden=hidden)
    shown = "not set" if value in (None, "") else repr(value)
    action = Action("get_field_value", {"node_id": node.id, "field": field.name})
    return _reply(context, f"{field.name} of {node.id} is {shown}.", action)


def _into(match: re.Match[str], context: Context) -> Understanding | None:
    node = context.flow.node(match["node"].lower())
    if node is None:
        return None
    edges = [f"{edge.source}.{edge.output} → {edge.input}" for edge in context.flow.incoming(node.id)]
    nothing = message("nothing", context.language)
    return _reply(context, f"{node.id} ← {', '.join(edges) or nothing}.")


def _needs(_match: re.Match[str], context: Context) -> Understanding | None:
    return _of_flow(context, needs=True)


def _flow(_match: re.Match[str], context: Context) -> Understanding | None:
    return _of_flow(context, needs=False)


def _of_flow(context: Context, *, needs: bool) -> Understanding | None:
    if not context.flow.nodes:
        return _reply(context, message("no_flow_here", context.language))
    return _reply(
        context, describe_flow(context.flow, context.catalog, context.language, needs=needs), Action("describe_flow_io")
    )


_INPUTS = {
    "en": {"TextInput": "a text", "ChatInput": "a message", "FormInput": "the answers of a form", "FileInput": "a file"},  # noqa: E501
    "sv": {"TextInput": "en text", "ChatInput": "ett meddelande", "FormInput": "svaren i ett formulär", "FileInput": "en fil"},  # noqa: E501
}  # fmt: skip


def describe_flow(flow: Flow, catalog: Catalog, language: Language, *, needs: bool = False) -> str:
    """A flow in a few lines: its steps in order and what it takes."""
    lines = [f"{flow.name}: {flow.description}" if flow.description else flow.name]
    if not needs:
        lines += ["", *(f"{number}. {_step(node, catalog)}" for number, node in enumerate(flow.nodes, start=1))]
    inputs = _INPUTS[language]
    taken = [inputs[node.type] for node in flow.nodes if node.type in inputs and not node.params.get("text")]
    taken += [f"{field.label or field.id} ({field.type})" for field in flow.form]
    shown = ", ".join(dict.fromkeys(taken)) or message("nothing", language)
    return "\n".join([*lines, "", message("takes", language, inputs=shown)])


def _step(node: Node, catalog: Catalog) -> str:
    template = catalog.template(node.type, node.params)
    title = node.label or (template.description.split(". ")[0].split("\n")[0] if template is not None else node.type)
    return f"{node.id} ({node.type}): {title}"


_INDEXES: "WeakKeyDictionary[Catalog, WordIndex]" = WeakKeyDictionary()


def _search(match: re.Match[str], context: Context) -> Understanding | None:
    query = next((text for text in match.groups() if text), "").strip()
    templates = _templates(context.catalog, query)
    if not templates:
        return None
    lines = [f"- {template.type}: {template.description.splitlines()[0]}" for template in templates]
    return _reply(context, "For that there is:\n" + "\n".join(lines), Action("search_components", {"query": query}))


def _templates(catalog: Catalog, query: str, most: int = 4) -> list[Template]:
    """Components that a query is about, best first; the catalogue of a request searches with the registry's index."""
    if isinstance(catalog, Overlay):
        return list(catalog.search(query, most=most))
    index = _INDEXES.get(catalog)
    if index is None:
        index = _INDEXES[catalog] = component_index(catalog)
    return [
        template for match in index.search(query, most=most) if (template := catalog.template(match.key)) is not None
    ]


_ANSWERS = {
    "undo": _undo,
    "files": _files, "component": _component, "self": _self, "list": _list, "about": _about, "pair": _pair, "field": _field,  # noqa: E501
    "into": _into, "needs": _needs, "flow": _flow, "search": _search,
}  # fmt: skip
