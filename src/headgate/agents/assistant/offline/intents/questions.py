"""Questions about what can be done, about components, and about the flow at hand."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.editing.insertions import component_named
from headgate.agents.assistant.offline.editing.nodes import NodeFinder
from headgate.agents.assistant.offline.intents.catalogue import CatalogueIndex
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import segments
from headgate.agents.assistant.offline.replies import NAME
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.features.catalog.gallery import Recipe
from headgate.features.catalog.words import word_set
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog, Template
from headgate.toolkit.shown import secret_fields, shown_value

_ASKING = word_set(
    "what which how why who is are does do can could list show explain describe tell help vad vilka vilken hur "
    "vem kan finns hjälp where when"
)
_COMPONENT = word_set("component components node nodes komponent komponenter")
_FLOW = word_set("flow workflow pipeline canvas flöde flödet")
_ABILITY = frozenset(["you", "your", "du", "yourself", "headgate"])
_DOING = word_set("do make build able can capable abilities help features support know offer possible göra bygga")
_USING = word_set(
    "use used using work works difference between versus compare vs settings setting fields field inputs "
    "outputs parameters options do does configure mean means inställningar fält"
)
_SOMETHING = word_set("something anything way something's know support supported handle något sätt")
_HELPERS = word_set("can could do does would should to kan gör man")
_NEEDS = word_set("need needs require requires input inputs take takes want wants behöver kräver missing")


def answer(reading: Reading, catalog: Catalog, index: CatalogueIndex, flow: Flow) -> Understanding | None:
    """The answer to a question; None when the request is no question that can be answered here."""
    words = [token.word for token in reading.tokens]
    first = next((at for at in range(len(reading)) if not _is_opening(reading, at)), 0)
    if not words or not ({words[first]} & _ASKING or words[0] == "help"):
        return None
    for attempt in (_about_field, _about_component, _about_flow, _about_catalogue, _about_self):
        found = attempt(reading, set(words), catalog, index, flow)
        if found is not None:
            reading.claim(0, len(reading))
            return found
    return None


def _is_opening(reading: Reading, at: int) -> bool:
    """Words before a question proper: `hi`, `please`, `so`, `tell me` stays."""
    return (
        reading.mark(at, "d.courtesy", "d.adverb") is not None and reading.tokens[at].word not in _ASKING
    ) or reading.is_punctuation(at)


def _reply(text: str, *actions: Action) -> Understanding:
    return Understanding("question", text, actions, coverage=1.0)


def _about_field(
    reading: Reading, words: set[str], catalog: Catalog, _index: CatalogueIndex, flow: Flow
) -> Understanding | None:
    """The value of a field: `what is the url of the page step?`."""
    if not flow.nodes or not words & {"what", "which", "what's", "vad", "show", "tell"}:
        return None
    finder = NodeFinder(flow, catalog)
    for one in finder.exact(reading, 0, len(reading)):
        template = catalog.template(one.node.type, one.node.params)
        field = next(
            (
                field
                for field in (template.fields if template else ())
                if field.name in words and field.name != one.node.id
            ),
            None,
        )
        if field is not None:
            hidden = field.name in secret_fields(catalog, one.node.type, one.node.params)
            value = shown_value(one.node.params.get(field.name, field.default), hidden=hidden)
            shown = "not set" if value in (None, "") else repr(value)
            return _reply(
                f"{field.name} of {one.node.id} is {shown}.",
                Action("get_field_value", {"node_id": one.node.id, "field": field.name}),
            )
    return None


def _about_component(
    reading: Reading, words: set[str], catalog: Catalog, _index: CatalogueIndex, _flow: Flow
) -> Understanding | None:
    """`what does the Regex component do?`, `which settings does SaveFile have`."""
    named = component_named(reading, 0, len(reading), catalog) or _lower_case(reading, words, catalog)
    if named is None or not words & (_USING | {"what", "explain", "describe", "how", "vad", "hur"}):
        return None
    others = [at for at in range(len(reading)) if reading.is_content(at) and not named[1] <= at < named[2]]
    if len([at for at in others if reading.tokens[at].word not in _USING | _COMPONENT | _ASKING]) > 1:
        return None
    template = catalog.template(named[0])
    if template is None:
        return None
    second = component_named(reading, named[2], len(reading), catalog)
    other = catalog.template(second[0]) if second is not None else None
    if other is not None:
        return _reply(
            f"{describe(template)}\n\n{describe(other)}",
            Action("describe_component", {"component_type": template.type}),
        )
    return _reply(describe(template), Action("describe_component", {"component_type": template.type}))


def _lower_case(reading: Reading, words: set[str], catalog: Catalog) -> tuple[str, int, int] | None:
    """`the switch component`: a type in small letters, when the question says that it is one."""
    if not words & _COMPONENT:
        return None
    known = {type_.lower(): type_ for type_ in catalog.types()}
    return next(
        ((known[token.word], at, at + 1) for at, token in enumerate(reading.tokens) if token.word in known), None
    )


def describe(template: Template) -> str:
    """A component in a few lines: what it does, its fields, its outputs."""
    lines = [f"{template.type}: {template.description}", "", "Fields:"]
    for field in template.fields:
        needed = " (required)" if field.required else ""
        options = f" One of: {', '.join(field.options)}." if field.options else ""
        lines.append(f"- {field.name}{needed}: {field.help}{options}")
    lines += ["", "Outputs:", *(f"- {output.name} ({output.type.value}): {output.help}" for output in template.outputs)]
    return "\n".join(lines)


def _about_flow(
    _reading: Reading, words: set[str], catalog: Catalog, _index: CatalogueIndex, flow: Flow
) -> Understanding | None:
    """The flow at hand: `what does this flow do?`, `what does it need?`."""
    if not words & (_FLOW | {"this", "it", "det"}) or words & _ABILITY or words & _COMPONENT - {"node", "nodes"}:
        return None
    if not words & {"what", "how", "explain", "describe", "vad", "hur", "which"}:
        return None
    if not flow.nodes:
        return _reply("There is no flow here yet. Describe one and I build it.") if words & _FLOW else None
    return _reply(describe_flow(flow, catalog, needs=bool(words & _NEEDS)), Action("describe_flow_io"))


def describe_flow(flow: Flow, catalog: Catalog, *, needs: bool = False) -> str:
    """A flow in a few lines: its steps in order and what it takes."""
    lines = [f"{flow.name}: {flow.description}" if flow.description else flow.name]
    if not needs:
        lines += ["", *(f"{number}. {_step(node, catalog)}" for number, node in enumerate(flow.nodes, start=1))]
    taken = [_INPUTS[node.type] for node in flow.nodes if node.type in _INPUTS and not node.params.get("text")]
    asked = [f"{field.label or field.id} ({field.type})" for field in flow.form]
    lines += [
        "",
        "It takes: "
        + (", ".join(dict.fromkeys(taken)) or "nothing")
        + (f"; form fields: {', '.join(asked)}" if asked else "")
        + ".",
    ]
    return "\n".join(lines)


_INPUTS = {"TextInput": "a text", "ChatInput": "a message", "FormInput": "the answers of a form", "FileInput": "a file"}


def _step(node: Node, catalog: Catalog) -> str:
    template = catalog.template(node.type, node.params)
    what = node.label or (template.description.split(". ")[0].split("\n")[0] if template is not None else node.type)
    return f"{node.id} ({node.type}): {what}"


def _about_catalogue(
    reading: Reading, words: set[str], catalog: Catalog, index: CatalogueIndex, _flow: Flow
) -> Understanding | None:
    """The components: `which components exist?`, `is there something for waiting?`."""
    exists = reading.tokens[0].word in {"is", "are", "do", "finns", "can"} and bool(words & _SOMETHING)
    how = [token.word for token in reading.tokens[:2]]
    asks_how = len(how) == 2 and how[0] in {"how", "hur"} and how[1] in _HELPERS
    if not words & _COMPONENT and not exists and not asks_how:
        return None
    content = " ".join(reading.meant(at) for at in range(len(reading)) if _searchable(reading, at))
    if not content:
        return _reply("These components exist: " + ", ".join(catalog.types()) + ".")
    found = index.templates(content)
    if not found:
        return _reply(
            f"I know no component for '{content}'. These exist: {', '.join(catalog.types())}.",
            Action("search_components", {"query": content}),
        )
    lines = [f"- {template.type}: {_first(template.description)}" for template in found[:4]]
    return _reply("For that there is:\n" + "\n".join(lines), Action("search_components", {"query": content}))


def _searchable(reading: Reading, at: int) -> bool:
    word = reading.tokens[at].word
    helpers = _COMPONENT | _ASKING | {"exist", "exists", "available", "there", "something", "anything", "have", "way"}
    return word not in helpers and (
        reading.is_content(at) or reading.mark(at, "v.", "s.", "t.", "u.", "f.") is not None
    )


def _first(description: str) -> str:
    return description.split("\n", maxsplit=1)[0]


def _about_self(
    reading: Reading, words: set[str], _catalog: Catalog, index: CatalogueIndex, _flow: Flow
) -> Understanding | None:
    """The builder itself: `what can you do?`, `who are you?`, `help`."""
    asked = (bool(words & _ABILITY) and (bool(words & _DOING) or words & {"who", "what", "vem"})) or reading.tokens[
        0
    ].word in {"help", "hjälp"}
    works = any(reading.mark(at, "s.", "t.", "u.", "f.", "x.", "s.url") is not None for at in range(len(reading)))
    content = [at for at in range(len(reading)) if reading.is_content(at) and reading.tokens[at].word not in _DOING]
    acts = any(reading.is_action(at) and reading.tokens[at].word not in _DOING for at in range(len(reading)))
    if not asked or works or acts or len(content) > 2 or len(segments(reading)) > 2:
        return None
    return _reply(introduce(index.recipes))


def introduce(recipes: Sequence[Recipe]) -> str:
    """What the offline builder is and can do."""
    examples = "\n".join(f"- {recipe.examples[0]}" for recipe in recipes[:5])
    return (
        f"I am the {NAME}: not a language model. I understand requests about flows by their words, build the flow,"
        f" change it and run it. Describe the steps in plain sentences, for example:\n{examples}\n\n"
        "I can also add, remove, connect, rename and set steps of the flow at hand ('wait 3 seconds before saving'),"
        " run it ('run it with the text ...') and say what a component does. What needs judgement (summaries,"
        " translations) takes a language model."
    )
