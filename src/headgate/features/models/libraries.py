"""The providers' own libraries, imported when first used."""

from typing import Any

from headgate.features.models.errors import ProviderNotInstalled
from headgate.features.models.providers import Provider


def openai_library(provider: Provider, purpose: str) -> Any:  # noqa: ANN401 - the module
    """Return the module `openai`. Raises `ProviderNotInstalled` naming the extra."""
    try:
        import openai  # noqa: PLC0415
    except ImportError as error:
        raise _missing(provider, purpose) from error
    return openai


def ollama_library(provider: Provider, purpose: str) -> Any:  # noqa: ANN401 - the module
    """Return the module `ollama`. Raises `ProviderNotInstalled` naming the extra."""
    try:
        import ollama  # noqa: PLC0415
    except ImportError as error:
        raise _missing(provider, purpose) from error
    return ollama


def _missing(provider: Provider, purpose: str) -> ProviderNotInstalled:
    return ProviderNotInstalled(
        f"{purpose} requires a package that is not installed.",
        remedy=f"Install it with: {provider.install}",
        extra_name=provider.extra,
    )
