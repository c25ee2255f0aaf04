"""Where the secrets that a step has read are taken out: of answers, tokens and log lines, saved files and errors.

Outputs and evidence go through the same values in `executor` and `recorder`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from pydantic import JsonValue

from headgate.features.runs.events import StepEvents
from headgate.foundation.errors import HeadgateError
from headgate.foundation.secret_values import SecretStream, SecretValues
from headgate.sdk import HttpAnswer, HttpClient, WorkspaceTools


class SecretlessHttp:
    """The guarded client; an answer that echoes a secret of the run comes without it.

    It is taken out here too, so that what a component cuts out of an answer holds no part of one.
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
        """One request. Raises what the client raises."""
        answer = await self._http.request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)
        content = self._secrets.content(answer.content)
        shown = {name: self._secrets.text(value) for name, value in answer.headers.items()}
        if content == answer.content and shown == answer.headers:
            return answer
        return replace(answer, content=content, headers=shown)


class SecretlessWorkspace:
    """The file tools of a workspace; what is written into a file, and called a file, holds no secret of the run."""

    def __init__(self, tools: WorkspaceTools, secrets: SecretValues) -> None:
        self._tools = tools
        self._secrets = secrets

    async def read_file(self, path: str, offset: int | None = None, limit: int | None = None) -> dict[str, JsonValue]:
        """Lines of a text file."""
        return await self._tools.read_file(path, offset, limit)

    async def write_file(self, path: str, content: str) -> dict[str, JsonValue]:
        """Write a file."""
        return await self._tools.write_file(self._secrets.text(path), self._secrets.text(content))

    async def edit_file(
        self, path: str, old_string: str, new_string: str, *, replace_all: bool = False
    ) -> dict[str, JsonValue]:
        """Replace text in a file."""
        return await self._tools.edit_file(path, old_string, self._secrets.text(new_string), replace_all=replace_all)

    async def glob_search(self, pattern: str, path: str = "") -> dict[str, JsonValue]:
        """Files whose path matches a pattern."""
        return await self._tools.glob_search(pattern, path)

    async def grep_search(
        self,
        pattern: str,
        path: str = "",
        *,
        glob: str = "",
        case_insensitive: bool = False,
        output_mode: str = "files_with_matches",
        is_regex: bool = False,
    ) -> dict[str, JsonValue]:
        """Files, lines or numbers of lines that have a text."""
        return await self._tools.grep_search(
            pattern, path, glob=glob, case_insensitive=case_insensitive, output_mode=output_mode, is_regex=is_regex
        )

    async def metadata(self) -> dict[str, JsonValue]:
        """Whose files these are."""
        return await self._tools.metadata()


class SecretlessEvents:
    """The ephemeral events of a step, without the secrets of its run."""

    def __init__(self, events: StepEvents, secrets: SecretValues) -> None:
        self._events = events
        self._secrets = secrets
        self._tokens = SecretStream(secrets)

    def token(self, text: str) -> None:
        """Publish a piece of a model's answer, as far as it can hold no beginning of a secret."""
        shown = self._tokens.feed(text)
        if shown or not text:
            self._events.token(shown)

    def tool_call(self, name: str, *, server: str, error: str, ms: float | None) -> None:
        """Publish a tool call."""
        text = self._secrets.text
        self._events.tool_call(text(name), server=text(server), error=text(error), ms=ms)

    def log(self, line: dict[str, JsonValue]) -> None:
        """Publish a line of the step's log."""
        shown: dict[str, JsonValue] = self._secrets.json(line)
        self._events.log(shown)

    def finish(self) -> None:
        """Publish what was kept back: no more tokens follow."""
        rest = self._tokens.rest()
        if rest:
            self._events.token(rest)


@contextmanager
def errors_without(secrets: SecretValues) -> Iterator[None]:
    """Take the secrets out of what is raised."""
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
    return tuple(secrets.text(one) if isinstance(one, str) else one for one in error.args)
