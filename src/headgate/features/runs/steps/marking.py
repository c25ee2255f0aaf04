"""The services of a step, with marks on untrusted content and checks on outgoing calls."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.features.runs.ports.services import ScopedRunner
from headgate.features.runs.steps.outside import OutsideContent
from headgate.foundation.secret_values import SecretValues
from headgate.graph.manifest import Manifest
from headgate.sdk import HttpAnswer, HttpClient, WorkspaceTools
from headgate.sdk.outside import mark


class MarkingHttp:
    """The HTTP client of a step: checks the destination of a request, marks its response.

    With `effect`, requests are effects on the servers of a connection, which chose their addresses itself.
    """

    def __init__(self, http: HttpClient, outside: OutsideContent, *, effect: bool = False) -> None:
        self._http = http
        self._outside = outside
        self._effect = effect

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request. Raises `OutsideContentRefused`, and what the client raises."""
        if self._effect:
            self._outside.check_effect(urlsplit(url).hostname or "")
        else:
            self._outside.check_request(method, url)
        response = await self._http.request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)
        hosts = {urlsplit(address).hostname or "" for address in (url, response.url)}
        self._outside.add(*(mark("web", host) for host in hosts if host))
        return response


class MarkingRunner:
    """The sandbox of a step: output of custom code with a network may come from its hosts."""

    def __init__(self, runner: ScopedRunner, outside: OutsideContent) -> None:
        self._runner = runner
        self._outside = outside

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Call a function of code without a network."""
        return await self._runner.call(code, function, arguments, timeout_seconds=timeout_seconds)

    async def call_host(
        self,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Call a trusted function on code. Raises `OutsideContentRefused`, and what the runner raises."""
        self._outside.check_code(manifest.hosts)
        result = await self._runner.call_host(code, host, arguments, manifest=manifest, timeout_seconds=timeout_seconds)
        self._outside.add(*(mark("web", host) for host in manifest.hosts))
        return result

    def opens(self, manifest: Manifest) -> bool:
        """Whether custom code may access every host that a manifest names."""
        return self._runner.opens(manifest)

    def close(self) -> None:
        """End the processes."""
        self._runner.close()


class StepWorkspace:
    """The workspace tools of a step: files and their names may contain untrusted text.

    The run's secrets are redacted from contents and names that are written.
    """

    def __init__(self, tools: WorkspaceTools, outside: OutsideContent, secrets: SecretValues) -> None:
        self._tools = tools
        self._outside = outside
        self._secrets = secrets

    async def read_file(self, path: str, offset: int | None = None, limit: int | None = None) -> dict[str, JsonValue]:
        """Return lines of a text file."""
        self._outside.add(mark("workspace", path))
        return await self._tools.read_file(path, offset, limit)

    async def read_content(self, path: str) -> bytes:
        """Return a file's content."""
        self._outside.add(mark("workspace", path))
        return await self._tools.read_content(path)

    async def write_file(self, path: str, content: str) -> dict[str, JsonValue]:
        """Write a file."""
        return await self._tools.write_file(self._secrets.text(path), self._secrets.text(content))

    async def edit_file(
        self, path: str, old_string: str, new_string: str, *, replace_all: bool = False
    ) -> dict[str, JsonValue]:
        """Replace text in a file."""
        return await self._tools.edit_file(path, old_string, self._secrets.text(new_string), replace_all=replace_all)

    async def glob_search(self, pattern: str, path: str = "") -> dict[str, JsonValue]:
        """Return files whose path matches a pattern; names are untrusted text too."""
        self._outside.add(mark("workspace", path or "/"))
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
        """Return files, lines or line numbers that contain a text."""
        self._outside.add(mark("workspace", path or "/"))
        return await self._tools.grep_search(
            pattern, path, glob=glob, case_insensitive=case_insensitive, output_mode=output_mode, is_regex=is_regex
        )

    async def metadata(self) -> dict[str, JsonValue]:
        """Return the owner of these files."""
        return await self._tools.metadata()
