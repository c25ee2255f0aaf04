"""Redacts the secrets that a step has read: from responses, tokens and log lines, saved files and errors.

`executor` and `recorder` redact the same values from outputs and evidence.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from pydantic import JsonValue

from headgate.features.runs.events import StepEvents
from headgate.foundation.errors import HeadgateError
from headgate.foundation.secret_values import SecretStream, SecretValues
from headgate.sdk import HttpAnswer, HttpClient


class SecretlessHttp:
    """The guarded client, with the run's secrets redacted from responses that echo them.

    Redaction here also covers fragments that a component extracts from a response.
    """

    def __init__(self, http: HttpClient, secrets: SecretValues) -> None:
        self._http = http
        self._secrets = secrets

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request. Raises what the client raises."""
        response = await self._http.request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)
        content = self._secrets.content(response.content)
        headers_shown = {name: self._secrets.text(value) for name, value in response.headers.items()}
        if content == response.content and headers_shown == response.headers:
            return response
        return replace(response, content=content, headers=headers_shown)


class SecretlessEvents:
    """The ephemeral events of a step, with the secrets of its run redacted."""

    def __init__(self, events: StepEvents, secrets: SecretValues) -> None:
        self._events = events
        self._secrets = secrets
        self._tokens = SecretStream(secrets)

    def token(self, text: str) -> None:
        """Publish a token of a model's answer, without a suffix that may be the start of a secret."""
        safe_text = self._tokens.feed(text)
        if safe_text or not text:
            self._events.token(safe_text)

    def tool_call(self, name: str, *, server: str, error: str, ms: float | None) -> None:
        """Publish a tool call."""
        text = self._secrets.text
        self._events.tool_call(text(name), server=text(server), error=text(error), ms=ms)

    def log(self, line: dict[str, JsonValue]) -> None:
        """Publish a line of the step's log."""
        safe_line: dict[str, JsonValue] = self._secrets.json(line)
        self._events.log(safe_line)

    def model_changed(self, failed: str, model: str, *, code: str, restarted: bool) -> None:
        """Publish that the next model of a fallback chain is asked."""
        if restarted:
            self._tokens = SecretStream(self._secrets)
        self._events.model_changed(failed, model, code=code, restarted=restarted)

    def finish(self) -> None:
        """Publish the withheld suffix: no more tokens follow."""
        remainder = self._tokens.rest()
        if remainder:
            self._events.token(remainder)


@contextmanager
def errors_without(secrets: SecretValues) -> Iterator[None]:
    """Redact secrets from raised errors."""
    try:
        yield
    except HeadgateError as error:
        error.detail, error.remedy = secrets.text(error.detail), secrets.text(error.remedy)
        error.extra = secrets.json(error.extra)
        error.args = _args(error, secrets)
        raise
    except Exception as error:
        error.args = _args(error, secrets)
        raise


def _args(error: Exception, secrets: SecretValues) -> tuple[object, ...]:
    return tuple(secrets.text(argument) if isinstance(argument, str) else argument for argument in error.args)
