"""Known chat models: what they can do, how much they read, what they cost. Data in `catalogue.json`.

Windows and capabilities are those that the providers' LangChain packages state; prices are indicative list prices,
and null where they were not certain when the file was last checked.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, JsonValue

from headgate.features.models.errors import ModelNotAccessible
from headgate.features.models.providers import Provider, find_provider, known_provider
from headgate.sdk.values import Model

_EDITION = re.compile(r"[-@:](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest)$")
"""A dated or floating edition of a model, at the end of its name."""


_NO_CHAT = re.compile(
    r"embed|rerank|whisper|tts|dall-e|image|moderation|realtime|transcribe|davinci|babbage|sora|guard", re.IGNORECASE
)
"""Name patterns of models that do not support chat: most lists do not mark them."""
_SERVER = "openai_compatible"
"""Protocol of an unknown server."""
_DOCUMENT_PROVIDERS = frozenset({"openai", "anthropic", "google"})


class ModelInfo(BaseModel):
    """Facts about a chat model."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    provider: str
    name: str
    label: str
    tools: Literal["native", "shim", "none"]
    """Tool calls: native, through a JSON schema, or none."""
    vision: bool
    audio: bool
    structured_output: bool
    temperature: bool
    """Whether it takes a temperature."""
    context_window: int | None
    """Longest prompt, in tokens; None when unknown."""
    max_output: int | None
    """Longest answer, in tokens; None when unknown."""
    price_in: float | None
    """US dollars a million tokens of prompt; None when unknown."""
    price_out: float | None
    """US dollars a million tokens of answer; None when unknown."""
    documents: bool = False
    """Whether it takes a PDF as it is, pages and all; else a document goes to it as text."""
    known: bool = True
    """False when the values are the provider's usual ones, not this model's."""
    max_concurrent: int | None = None
    """Steps of flows that may call it at the same time; None: any number."""
    description: str = ""
    """The organisation's description."""
    hidden: bool = False
    """Whether it is no longer offered; steps that name it continue to run."""
    changed: bool = False
    """Whether the organisation set some of these values."""


@dataclass(frozen=True, slots=True)
class _Shelf:
    default: str | None
    unknown: Mapping[str, Any]
    models: Mapping[str, ModelInfo]


def list_models(provider_id: str | None = None) -> list[ModelInfo]:
    """Return every known model, or those of one provider, best choice first. Raises `UnknownProvider`."""
    if provider_id is not None:
        return list(_shelf(find_provider(provider_id).id).models.values())
    return [info for shelf in _shelves().values() for info in shelf.models.values()]


def resolve(model: Model, kind: str = _SERVER) -> ModelInfo:
    """Return the facts about a model; for an unknown name, the usual ones of its provider.

    Args:
        model: The model.
        kind: The provider whose protocol is spoken where the model's provider is a server with a name of its own.
    """
    known = known_provider(model.provider)
    provider_id = model.provider if known is None else known.id
    shelf = _shelf(kind if known is None else known.id)
    for name in (model.name, _EDITION.sub("", model.name)):
        if name in shelf.models:
            return shelf.models[name].model_copy(update={"provider": provider_id, "name": model.name})
    return ModelInfo(provider=provider_id, name=model.name, label=model.name, known=False, **shelf.unknown)


def describe(provider: Provider, names: Collection[str]) -> list[ModelInfo]:
    """Return the chat models among the names that a server lists: known ones first, in the catalogue's order.

    A dated edition is omitted where the model itself is listed too.
    """
    listed = set(names)
    chats = [name for name in names if not _NO_CHAT.search(name) and _EDITION.sub("", name) not in listed - {name}]
    order = {name: place for place, name in enumerate(_shelf(provider.kind).models)}
    infos = [resolve(Model(provider=provider.id, name=name), provider.kind) for name in chats]
    return sorted(infos, key=lambda info: order.get(info.name, order.get(_EDITION.sub("", info.name), len(order))))


def default_name(provider_id: str) -> str | None:
    """Return the model to use when only the provider is known; None when it has no models of its own."""
    known = known_provider(provider_id)
    return None if known is None else _shelf(known.id).default


def next_model(model: Model, tried: Collection[str]) -> Model | None:
    """Return the next model of the same provider to try when one is not accessible; None when all were tried.

    Args:
        model: The one that failed; its params go along.
        tried: Names already tried, the failed one included.
    """
    known = known_provider(model.provider)
    names = [default_name(model.provider), *(_shelf(known.id).models if known is not None else ())]
    following = next((name for name in names if name and name not in tried), None)
    return model.model_copy(update={"name": following}) if following else None


def models_exhausted(model: Model, tried: Collection[str]) -> ModelNotAccessible:
    """The error when no model of a provider was accessible, naming those tried in their order (seed 001, ADR-024)."""
    provider = known_provider(model.provider)
    if provider is None:
        return ModelNotAccessible(
            f"The model server '{model.provider}' has no model that this key can access. Tried: {', '.join(tried)}.",
            remedy="Test the server in Settings, Models; the test lists its models.",
            tried=list[JsonValue](tried),
        )
    return ModelNotAccessible(
        f"No accessible model on {provider.id}. Tried: {', '.join(tried)}. Configure access to one of these models in"
        f" your {provider.id} account, or switch to a different provider in Settings → Model Providers.",
        remedy=f"Its models and their access are listed at {provider.docs}.",
        tried=list[JsonValue](tried),
    )


def _with_documents(provider_id: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return a model that sees takes a PDF where its provider does."""
    return {"documents": entry["vision"] and provider_id in _DOCUMENT_PROVIDERS, **entry}


def _shelf(provider_id: str) -> _Shelf:
    return _shelves()[provider_id]


@lru_cache(maxsize=1)
def _shelves() -> Mapping[str, _Shelf]:
    data = orjson.loads(files(__package__).joinpath("catalogue.json").read_bytes())
    return MappingProxyType(
        {provider_id: _read_shelf(provider_id, shelf) for provider_id, shelf in data["providers"].items()}
    )


def _read_shelf(provider_id: str, shelf: dict[str, Any]) -> _Shelf:
    infos = [ModelInfo(provider=provider_id, **_with_documents(provider_id, entry)) for entry in shelf["models"]]
    return _Shelf(
        default=shelf["default"],
        unknown=MappingProxyType(_with_documents(provider_id, shelf["unknown"])),
        models=MappingProxyType({info.name: info for info in infos}),
    )
