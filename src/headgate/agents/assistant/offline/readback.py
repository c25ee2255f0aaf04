"""What a flow has, read from the flow: steps that run flows or wait, policies and limits."""

from collections.abc import Iterator

from pydantic import JsonValue

from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import known, message
from headgate.graph.model import Edge, Flow, FlowSettings, Node, StepPolicy
from headgate.graph.spec_print import changed_members
from headgate.graph.template import Catalog


def facts(flow: Flow, catalog: Catalog, language: Language) -> list[str]:
    """The steps, policies and limits that `messages.txt` has a sentence for, one line each."""
    lines = [line for node in flow.nodes for line in _of_node(node, catalog, language)]
    branches = [_branch(edge, language) for edge in flow.edges if edge.output in {"timeout", "error"}]
    settings = changed_members(flow.settings, FlowSettings())
    return [
        *lines,
        *branches,
        *(line for name, value in settings.items() for line in _sentences("", name, value, language)),
    ]


def _of_node(node: Node, catalog: Catalog, language: Language) -> Iterator[str]:
    template = catalog.template(node.type, node.params)
    if template is not None and known(f"fact_{node.type}", language):
        values = {field.name: node.params.get(field.name, field.default) for field in template.fields}
        yield message(f"fact_{node.type}", language, **{**values, "id": node.id})
    model = node.params.get("model")
    members = {"fallback": model["fallback"]} if isinstance(model, dict) and "fallback" in model else {}
    for name, value in (members | changed_members(node.policy, StepPolicy())).items():
        yield from _sentences(node.id, name, value, language)


def _sentences(node_id: str, name: str, value: JsonValue, language: Language) -> Iterator[str]:
    key = next((key for key in (f"fact_{name}_{value}", f"fact_{name}") if known(key, language)), None)
    if key is not None:
        yield message(key, language, id=node_id, value=_shown(value))


def _shown(value: JsonValue) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items() if each is not None)
    return (
        ", ".join(map(_shown, value))
        if isinstance(value, list)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _branch(edge: Edge, language: Language) -> str:
    return message(f"fact_edge_{edge.output}", language, id=edge.source, target=edge.target)
