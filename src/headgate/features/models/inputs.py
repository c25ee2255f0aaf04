"""Files that a model accepts directly: images, audio, video and documents, with the limits of its provider."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from headgate.features.models import catalogue
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.errors import InputTooLarge, ModelLacksInput
from headgate.features.models.providers import LOCAL
from headgate.sdk.values import File, Model

Kind = Literal["image", "audio", "video", "document", "text"]

MOST_BYTES = 20_000_000
"""Largest file sent to a model; a few providers take less."""
_LESS: Mapping[tuple[str, Kind], int] = {("anthropic", "image"): 5_000_000, ("groq", "image"): 4_000_000}
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_AUDIO: Mapping[str, frozenset[str]] = {
    "openai": frozenset({"audio/wav", "audio/x-wav", "audio/wave", "audio/mpeg", "audio/mp3"}),
}
_PDF = "application/pdf"
_ARTICLES = {"image": "images", "audio": "audio", "video": "video", "document": "documents without text"}
MOST_NAMED = 4
"""Models named in a refusal."""


def kind_of(file: File) -> Kind:
    """Return the kind of a file for a model. Text formats are `text`; of documents only a PDF can be sent directly."""
    media = file.media_type.partition(";")[0].strip().lower()
    group = media.partition("/")[0]
    if group in {"image", "audio", "video"} and "xml" not in media:
        return group  # type: ignore[return-value] # one of the three
    return "document" if media == _PDF else "text"


def check_inputs(model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
    """Return ids of the files that the model takes as they are; the rest goes to it as text.

    A model that the catalogue does not know is believed to take what its provider can carry; the provider says no
    if it does not.

    Args:
        model: The model that will be asked.
        files: What is to go along.
        unreadable: Whether the documents have no text that could go in their place.

    Raises:
        ModelLacksInput: It takes no such files; names it, what it lacks, and models that can.
        InputTooLarge: A file is over the limit.
    """
    info = catalogue.resolve(model)
    taken: set[str] = set()
    for file in files:
        kind = kind_of(file)
        if kind == "text" or (kind == "document" and not unreadable and not _takes_document(info, file)):
            continue
        if not _takes(info, kind) or not _known_format(info, kind, file):
            raise _lacking(model, info, file, kind)
        most = _LESS.get((info.provider, kind), MOST_BYTES)
        if file.size > most:
            raise InputTooLarge(
                f"'{file.name}' has {file.size} bytes; {model} accepts {_ARTICLES[kind]} of up to {most}.",
                remedy="Reduce the size of the file.",
            )
        taken.add(file.id)
    return frozenset(taken)


def models_taking(kind: Kind) -> Iterator[str]:
    """Known models that take a kind of file, as `provider/name`, the first choice of each provider first."""
    able = [info for info in catalogue.list_models() if _takes(info, kind)]
    seen: set[str] = set()
    for first in (True, False):
        for info in able:
            if (info.provider not in seen) is first:
                seen.add(info.provider)
                yield f"{info.provider}/{info.name}"


def _takes(info: ModelInfo, kind: Kind) -> bool:
    if not info.known and info.provider != LOCAL and kind in {"image", "audio"}:
        return True
    if kind == "video":
        return info.provider == "google"
    return {"image": info.vision, "audio": info.audio, "document": info.documents}[kind]


def _takes_document(info: ModelInfo, file: File) -> bool:
    """Over the limit, its text may still fit."""
    return info.documents and file.size <= MOST_BYTES


def _known_format(info: ModelInfo, kind: Kind, file: File) -> bool:
    media = file.media_type.partition(";")[0].strip().lower()
    if kind == "image" and info.provider != "google":
        return media in _IMAGES
    return kind != "audio" or media in _AUDIO.get(info.provider, {media})


def _lacking(model: Model, info: ModelInfo, file: File, kind: Kind) -> ModelLacksInput:
    able = [name for name in models_taking(kind) if name != str(model)][:MOST_NAMED]
    instead = f"a model that supports it: {', '.join(able)}" if able else "another model"
    if kind == "audio":
        remedy = f"Add a Transcribe step before it, or use {instead}."
    elif _takes(info, kind):
        remedy = "Convert it to PNG or JPEG." if kind == "image" else "Convert it."
    else:
        remedy = f"Use {instead}."
    return ModelLacksInput(
        f"{model} does not accept {_ARTICLES[kind] if not _takes(info, kind) else file.media_type}, and "
        f"'{file.name}' is {file.media_type}.",
        remedy=remedy,
        lacks=kind,
        models=list(able),
    )
