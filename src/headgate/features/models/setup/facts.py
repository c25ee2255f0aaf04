"""Merges an organisation's facts about models with those of the catalogue and the servers."""

from collections.abc import Mapping, Sequence

from headgate.features.models import catalogue
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.providers import Provider
from headgate.features.models.setup.values import ModelFacts, ModelSetup
from headgate.sdk.values import Model

HIDDEN = "Hidden in Settings, Models: no longer offered. Steps that use it keep running."


def merged(info: ModelInfo, facts: ModelFacts | None) -> ModelInfo:
    """Return the facts about a model, including the organisation's."""
    if facts is None:
        return info
    return info.model_copy(update={**facts.model_dump(exclude_none=True), "changed": True})


def known_of(model: Model, setup: ModelSetup) -> ModelInfo:
    """Return everything that is known of a model in a space; it need not be offered."""
    server = setup.servers.get(model.provider)
    kind = "ollama" if server is not None and server.kind == "ollama" else "openai_compatible"
    info = catalogue.resolve(model, kind)
    return merged(info, setup.facts.get((info.provider, model.name)))


def with_facts(
    provider: Provider, infos: Sequence[ModelInfo], facts: Mapping[tuple[str, str], ModelFacts], *, hidden: bool
) -> list[ModelInfo]:
    """Return a provider's models with the organisation's facts, including those that it added.

    Args:
        provider: Whose models.
        infos: Those that its server or the catalogue lists.
        facts: What the organisation says.
        hidden: Whether models that are hidden are among them.
    """
    names = {info.name for info in infos}
    added = [
        catalogue.resolve(Model(provider=provider.id, name=name), provider.kind)
        for owner, name in facts
        if owner == provider.id and name not in names
    ]
    described = [merged(info, facts.get((provider.id, info.name))) for info in (*infos, *added)]
    return [info for info in described if hidden or not info.hidden]
