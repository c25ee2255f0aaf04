"""Flows of the gallery for requests that equal a title or an example of a template, word for word."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from headgate.agents.assistant.offline.language.languages import Language, meaningful
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.slots import Context
from headgate.agents.assistant.offline.reading.tokens import Tokens, tokenize
from headgate.agents.assistant.offline.restate import restated
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.features.catalog.gallery import Recipe, TemplateTrigger, load_gallery
from headgate.graph.model import Flow
from headgate.graph.names import listed
from headgate.graph.spec import print_spec

_ADDRESSES = frozenset({"url", "email"})
"""Kinds of tokens that may differ from the example: they replace its addresses in the flow and its triggers."""


class _Match(NamedTuple):
    """A template, and what replaces its addresses."""

    recipe: Recipe
    addresses: Mapping[str, str]


def ready_made(context: Context) -> Understanding | None:
    """Return what builds a template that needs no model; None when the request is no title and no example."""
    match = _match(context)
    return None if match is None or match.addresses or match.recipe.needs_model else _built(match, context)


def ready_made_otherwise(context: Context) -> Understanding | None:
    """As `ready_made` for a request that nothing else reads: its addresses may differ, and a template may need a model.

    Without a model the answer says which template does what was asked for, and nothing is built.
    """
    match = _match(context)
    if match is None:
        return None
    if context.default_model is not None or not match.recipe.needs_model:
        return _built(match, context)
    reply = message("template_needs_model", context.language, title=match.recipe.title)
    return Understanding("build_flow", f"{reply}\n\n{message('connect', context.language)}", language=context.language)


def _match(context: Context) -> _Match | None:
    nearest: _Match | None = None
    for recipe, example in _examples(context.language):
        addresses = _addresses(example, context.tokens)
        if addresses == {}:
            return _Match(recipe, addresses)
        if addresses and nearest is None and _occur(addresses, recipe):
            nearest = _Match(recipe, addresses)
    return nearest


@lru_cache(maxsize=2)
def _examples(language: Language) -> tuple[tuple[Recipe, Tokens], ...]:
    """Return the templates, once for each title and example, with what that says in requests of a language."""
    return tuple(
        (recipe, meaningful(tokenize(text), language))
        for recipe in load_gallery()
        for text in (recipe.title, *recipe.examples, *recipe.swedish)
    )


def _addresses(example: Tokens, request: Tokens) -> dict[str, str] | None:
    """Return the addresses of the request that differ from the example's; None when anything else differs."""
    if len(example.items) != len(request.items):
        return None
    differing: dict[str, str] = {}
    for expected, token in zip(example.items, request.items, strict=True):
        if expected.kind != token.kind:
            return None
        if expected.value.lower() == token.value.lower():
            continue
        if expected.kind not in _ADDRESSES or not set(token.value).isdisjoint("{}\\"):
            return None
        if differing.setdefault(expected.value, token.value) != token.value:
            return None
    return differing


def _occur(addresses: Mapping[str, str], recipe: Recipe) -> bool:
    text = recipe.spec + str([trigger.config for trigger in recipe.triggers])
    return all(address in text for address in addresses)


def _built(match: _Match, context: Context) -> Understanding:
    recipe, language = match.recipe, context.language
    flow = Flow.model_validate(_with(recipe.flow().model_dump(mode="json"), match.addresses))
    lines = (
        recipe.description.rstrip("."),
        *match.addresses.values(),
        *(node.label for node in flow.nodes if node.label),
    )
    connections = [needed.name for needed in recipe.needs_connections(context.catalog)]
    done = message("built_name", language, name=flow.name)
    if connections:
        done += " " + message("names_connections", language, names=listed(connections))
    starting = [_starting(trigger, match.addresses) for trigger in recipe.triggers]
    actions = (Action("build_flow", {"spec": print_spec(flow)}), *starting)
    return Understanding("build_flow", "", actions, flow, restated(lines, language), done, None, language)


def _starting(trigger: TemplateTrigger, addresses: Mapping[str, str]) -> Action:
    """Return the call that adds a trigger."""
    config: dict[str, JsonValue] = {name: _with(value, addresses) for name, value in trigger.config.items()}
    if config["kind"] == "schedule":
        times = {name: value for name, value in config.items() if name != "kind"}
        return Action("set_schedule", {"name": trigger.name, **times})
    return Action("set_trigger", {"name": trigger.name, "source": config})


def _with(value: JsonValue, addresses: Mapping[str, str]) -> JsonValue:
    """Return a value in whose texts the addresses are replaced."""
    if isinstance(value, str):
        # All at once, the longest first: an address may be part of another, and a replacement may be another's address.
        sought = "|".join(re.escape(address) for address in sorted(addresses, key=len, reverse=True))
        return re.sub(sought, lambda match: addresses[match[0]], value) if sought else value
    if isinstance(value, dict):
        return {name: _with(member, addresses) for name, member in value.items()}
    return [_with(member, addresses) for member in value] if isinstance(value, list) else value
