"""Speech into text, over OpenAI's `/audio/transcriptions`, which Groq and most servers of Whisper speak too."""

from typing import TYPE_CHECKING, Any

from headgate.features.models.calling import caller_of, checked_params
from headgate.features.models.credentials import find_credentials
from headgate.features.models.diagnosis import Caller, friendly_error
from headgate.features.models.errors import BadModelSettings, InputTooLarge
from headgate.features.models.libraries import openai_library
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import find_provider
from headgate.foundation.lazy import lazy_module
from headgate.sdk.values import Model, Recording, Transcript

if TYPE_CHECKING:
    from headgate.features.models import clients
else:
    clients = lazy_module("headgate.features.models.clients")

PATHS = {"openai": "", "openai_compatible": "", "groq": "/openai/v1"}
"""Providers that transcribe, and what their API's path adds to their address."""
MOST_BYTES = 25_000_000
"""Largest recording that OpenAI takes."""


async def transcribe(model: Model, audio: Recording, keys: KeySource, *, web: GuardedWeb) -> Transcript:
    """Return the transcript of a recording.

    Args:
        model: For example `openai/gpt-4o-transcribe` or `groq/whisper-large-v3`; it may have an `api_key`, and
            its params `base_url`, `timeout_seconds` and `max_retries`.
        audio: What was recorded.
        keys: Where keys come from.
        web: The way to the provider's server.

    Raises:
        Invalid: A provider that does not transcribe, a missing key or package, or wrong settings.
        InputTooLarge: More than 25 MB.
        HeadgateError: The failure of the call, as for a chat model.
    """
    provider = find_provider(model.provider)
    if provider.id not in PATHS:
        raise BadModelSettings(
            f"{provider.label} has no transcription API that Headgate supports.",
            remedy=f"Use a model of one of these providers: {', '.join(PATHS)}; for example openai/gpt-4o-transcribe.",
        )
    if len(audio.content) > MOST_BYTES:
        raise InputTooLarge(
            f"'{audio.name}' has {len(audio.content)} bytes; {model} accepts recordings of up to {MOST_BYTES}.",
            remedy="Split it, or save it with stronger compression.",
        )
    params = await checked_params(model, provider, web)
    credentials = await find_credentials(provider, params, keys)
    caller = caller_of(model, provider, credentials, params)
    client = openai_library(provider, "Transcription").AsyncOpenAI(
        api_key=credentials.arguments["api_key"].get_secret_value(),
        base_url=credentials.base_url.rstrip("/") + PATHS[provider.id],
        timeout=caller.timeout_seconds,
        max_retries=2 if params.max_retries is None else params.max_retries,
        http_client=clients.client(web.library_transport(credentials.networks)),
    )
    async with client:
        return await _asked(client, model, audio, caller)


async def _asked(client: Any, model: Model, audio: Recording, caller: Caller) -> Transcript:  # noqa: ANN401 - OpenAI's
    options = {"language": audio.language, "prompt": audio.prompt}
    try:
        answer = await client.audio.transcriptions.create(
            model=model.name,
            file=(audio.name, audio.content, audio.media_type),
            response_format="verbose_json" if model.name.startswith("whisper") else "json",
            **{name: value for name, value in options.items() if value},
        )
        seconds = getattr(answer, "duration", None)
        return Transcript(
            text=str(answer.text),
            language=str(getattr(answer, "language", None) or ""),
            seconds=float(seconds) if seconds is not None else None,
        )
    except Exception as error:  # noqa: BLE001 - the library raises anything; all of it is translated
        # Not chained: the library's exceptions hold request headers.
        raise friendly_error(error, caller) from None
