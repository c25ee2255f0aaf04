"""MCP sessions with the official client. Imported at the first connection: importing takes a second.

The newest stateless revision (2026-07-28) is requested first; servers without it get the handshake of 2025-11-25 and
before (`mcp.client.Client`, mode `auto`).
"""

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO

import httpx2
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation
from pydantic import JsonValue, ValidationError

import headgate
from headgate.features.connections.http import ConnectionHttp
from headgate.features.mcptools import reading
from headgate.features.mcptools.descriptions import Described, clean, taken_tools
from headgate.features.mcptools.errors import (
    McpSamplingRefused,
    McpServerFailed,
    McpToolChanged,
    McpToolFailed,
    McpToolNotFound,
)
from headgate.features.mcptools.questions import InProgress, Questions
from headgate.features.mcptools.sampling import Answers
from headgate.features.mcptools.signing import ConnectionAuth
from headgate.features.mcptools.target import Target
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.pins import hash_of
from headgate.foundation.settings import McpSettings
from headgate.graph.names import clipped, did_you_mean, listed
from headgate.sandbox import programs

CLOSE_SECONDS = 10.0
"""Time for a session to end; a program is killed well before."""
MAX_PAGES = 50
_MODEL_SECONDS = 3600.0
"""The longest that a server waits for a model without sending anything. Each call has its own, shorter limit."""
_NO_SAMPLING = "Sampling not supported"
"""Message of the library for a request that is not expected."""
_TAIL = 2000
_LONGEST_ERROR = 2000

for _name in ("mcp", "client"):  # its log lines contain URLs and responses; errors are reported by Headgate
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class Session:
    """A session with one server, usable from any task; a separate task opens and ends it.

    Args:
        target: The server, with variables filled in.
        http: Sends the requests to a URL.
        settings: Limits; whether programs are allowed.
        connection: The connection that authenticates the requests; None for none.
        insecure: Whether a program runs as the server does where this system cannot isolate it.
    """

    def __init__(
        self,
        target: Target,
        http: GuardedHttp,
        settings: McpSettings,
        connection: ConnectionHttp | None = None,
        *,
        insecure: bool = False,
    ) -> None:
        self._insecure = insecure
        self._auth = None if connection is None else ConnectionAuth(connection)
        self._target = target
        self._http = http
        self._settings = settings
        self._status: int | None = None
        self._last_words = ""
        self._end = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None
        self._tools: dict[str, Described] | None = None
        self._questions = Questions(target.name, target.sampling, self._scrubbed)
        self._wait = settings.timeout_seconds + (_MODEL_SECONDS if target.sampling else 0.0)
        """Seconds without a byte of the server."""

    @property
    def is_open(self) -> bool:
        """Return whether it can be used: the other side may have ended it."""
        return self._owner is not None and not self._owner.done()

    @property
    def protocol(self) -> str:
        """Return the protocol revision in use."""
        return str(self._client.result().protocol_version)

    @property
    def server(self) -> str:
        """Return the server's own name; empty when there is none."""
        info = self._client.result().server_info
        return clipped(clean(info.name), 100) if info else ""

    async def open(self) -> None:
        """Connect. Raises `McpServerFailed`, `SandboxUnavailable`, or why the URL may not be reached."""
        if self._target.transport == "http":
            await self._http.check(self._target.url)
        self._owner = asyncio.create_task(self._own(), name=f"mcp {self._target.name}")
        try:
            done, _ = await asyncio.wait({self._client}, timeout=self._settings.connect_seconds)
        except asyncio.CancelledError:
            await self.close()
            raise
        if not done:
            await self.close()
            raise self._failed(f"did not answer within {self._settings.connect_seconds:g} seconds")
        self._client.result()

    async def list_tools(self) -> list[Described]:
        """Return the server's tools, and those that read its resources and prompts."""
        tools = await self._own_tools()
        return [*tools, *await self._asked(reading.offered(self._client.result(), (tool.name for tool in tools)))]

    async def _own_tools(self) -> list[Described]:
        """Return the server's tools, page by page, within the limits."""
        tools: list[Described] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._asked(self._client.result().list_tools(cursor=cursor, cache_mode="bypass"))
            tools += [
                Described(tool.name, tool.description or "", tool.input_schema, _reads(tool)) for tool in page.tools
            ]
            cursor = page.next_cursor
            if cursor is None or len(tools) > 2 * self._settings.max_tools:
                return tools
        raise self._failed(f"lists its tools on more than {MAX_PAGES} pages")

    async def call_tool(
        self, name: str, arguments: Mapping[str, JsonValue], *, accepted: str, answers: Answers | None = None
    ) -> JsonValue:
        """Call a tool and return its structured result, else its text; `answers` has what the server asks meanwhile.

        Raises `McpToolFailed`, `McpToolNotFound`, what `answers` raises, and `McpToolChanged` when the server's
        current description is not the one with the hash that a user has accepted.
        """
        if self._tools is None:
            # Of two with a name the first counts, as when tools are accepted.
            self._tools = {tool.name: tool for tool in reversed(await self._own_tools())}
        if name not in self._tools and name in reading.READING:
            return self._scrubbed(clean(await self._asked(reading.read(self._client.result(), name, arguments))))
        if name not in self._tools:
            names = list(self._tools)
            raise McpToolNotFound(
                f"The MCP server '{self._target.name}' no longer has a tool '{name}'{did_you_mean(name, names) or '.'}",
                remedy=f"Its tools are: {listed(names)}. Refresh the server and change the flow.",
            )
        current, _ = taken_tools([self._tools[name]], limit=1)
        if [hash_of(tool.contract) for tool in current] != [accepted]:
            raise McpToolChanged(self._target.name, name)
        with self._questions.during(answers) as in_progress:
            result = await self._asked(self._client.result().call_tool(name, dict(arguments)), in_progress)
        return self._result(name, result)

    async def close(self) -> None:
        """End the session, and the program with it."""
        self._end.set()
        if self._owner is not None:
            if not self._client.done():
                self._owner.cancel()
            _, late = await asyncio.wait({self._owner}, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await self._owner
        if self._client.done() and not self._client.cancelled():
            self._client.exception()  # it was reported, or nobody waits any more

    async def _own(self) -> None:
        """Open, wait for the end, and close in one task, as the client's task groups require."""
        try:
            info = Implementation(name="headgate", version=headgate.__version__)
            transport = self._over_http() if self._target.transport == "http" else self._as_program()
            async with Client(
                transport,
                client_info=info,
                read_timeout_seconds=self._wait,
                elicitation_callback=self._questions.answer,
                sampling_callback=self._questions.sample if self._target.sampling else None,
                cache=None,
            ) as client:
                self._client.set_result(client)
                await self._end.wait()
        except Exception as error:  # noqa: BLE001 - whatever ends a session is reported as one kind of error
            if not self._client.done():
                self._client.set_exception(self._translated(error))
        finally:
            if not self._client.done():
                self._client.set_exception(self._failed("ended the connection"))

    @asynccontextmanager
    async def _over_http(self) -> AsyncIterator[Any]:
        async def note(response: httpx2.Response) -> None:
            self._status = response.status_code

        async with self._http.streaming_client(
            headers=self._target.sent,
            read_seconds=self._wait,
            max_stream_bytes=4 * self._settings.max_result_bytes,
        ) as client:
            client.event_hooks = {"response": [note]}
            if self._auth is not None:
                client.auth = self._auth
            async with streamable_http_client(
                self._target.url, http_client=client, max_sse_event_size=self._settings.max_result_bytes
            ) as streams:
                yield streams

    @asynccontextmanager
    async def _as_program(self) -> AsyncIterator[Any]:
        own = self._target.access
        access = programs.Access(tuple(own.hosts), tuple(own.read), tuple(own.write))
        name, command = self._target.name, self._target.command
        with tempfile.TemporaryFile("w+", errors="replace") as errors:
            try:
                async with programs.launched(name, command, access, self._http, insecure=self._insecure) as launch:
                    parameters = StdioServerParameters(
                        command=launch.command[0],
                        args=list(launch.command[1:]),
                        env={**self._target.sent, **launch.environment},
                    )
                    async with stdio_client(parameters, errlog=errors) as streams:
                        yield streams
            finally:
                self._last_words = _tail(errors)

    async def _asked(self, call: Any, in_progress: InProgress | None = None) -> Any:  # noqa: ANN401 - the client's
        """Return the result of a request, within the time limit; failures become Headgate's errors."""
        try:
            async with asyncio.timeout(self._settings.timeout_seconds) as scope:
                if in_progress is not None:
                    in_progress.scope = scope
                return await call
        except Exception as error:
            raise self._translated(error) from error

    def _result(self, tool: str, result: CallToolResult) -> JsonValue:
        text = self._scrubbed(clean("\n".join(map(reading.text_of, result.content))))
        if result.is_error:
            reason = clipped(text, _LONGEST_ERROR) or "no reason was given"
            raise McpToolFailed(f"The tool '{self._target.name}.{tool}' failed. The server reports: {reason}")
        if result.structured_content is not None:
            content: JsonValue = self._scrubbed_json(result.structured_content)
            return content
        return text

    def _translated(self, error: BaseException) -> HeadgateError:
        """Return Headgate's error for a failure."""
        for cause in _causes(error):
            if isinstance(cause, HeadgateError):
                return cause
            if isinstance(cause, TimeoutError):
                return self._failed(f"did not answer within {self._settings.timeout_seconds:g} seconds")
            if isinstance(cause, MCPError):
                return self._without_model() if cause.message == _NO_SAMPLING else self._failed(self._refused(cause))
            if isinstance(cause, ValidationError):
                return self._failed("sent a response that is not MCP")
            if isinstance(cause, OSError):
                return self._failed(f"could not be started: {cause.strerror or type(cause).__name__}")
            if isinstance(cause, httpx2.HTTPError):
                return self._failed(f"could not be reached: {clipped(str(cause), 300)}")
        return self._failed(f"failed: {clipped(str(error), 300) or type(error).__name__}")

    def _without_model(self) -> McpSamplingRefused:
        return McpSamplingRefused(
            f"The MCP server '{self._target.name}' asks for a language model, and it has none.",
            remedy="Choose a model for it in Settings, MCP servers, or with `headgate mcp-servers sampling`.",
        )

    def _refused(self, error: MCPError) -> str:
        if self._status is not None and self._status >= 400:
            return f"answered {self._status}: {clipped(clean(error.message), 300)}"
        return f"returned an error: {clipped(clean(error.message), _LONGEST_ERROR)}"

    def _scrubbed(self, text: str) -> str:
        """Return the server's text without the secrets that were sent to it."""
        own = self._target.scrubbed(text)
        return own if self._auth is None else self._auth.sent.text(own)

    def _scrubbed_json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, str):
            return self._scrubbed(clean(value))
        if isinstance(value, Mapping):
            return {str(key): self._scrubbed_json(inner) for key, inner in value.items()}
        return [self._scrubbed_json(inner) for inner in value] if isinstance(value, list) else value

    def _failed(self, problem: str) -> McpServerFailed:
        remedy = "Check its URL or command and its headers; `headgate mcp-servers test` tests the connection."
        if self._status == 401 and self._target.transport == "http":
            remedy = f"Authorize it in Settings, or with `headgate mcp-servers authorize {self._target.name}`."
        return McpServerFailed(
            self._scrubbed(f"The MCP server '{self._target.name}' {problem}.{self._last_words}"), remedy=remedy
        )


def _reads(tool: Any) -> bool:  # noqa: ANN401 - the library's tool
    """Return whether a server declares that a tool is read-only."""
    return tool.annotations is not None and tool.annotations.read_only_hint is True


def _tail(errors: TextIO) -> str:
    """Return the last line of a program's standard error."""
    errors.flush()
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - _TAIL))
    lines = clean(errors.read()).strip().splitlines()
    return f" It wrote: {clipped(lines[-1], 300)}" if lines else ""


def _causes(error: BaseException) -> list[BaseException]:
    """Return the error, its members and its causes, outermost first."""
    causes: list[BaseException] = []
    waiting = [error]
    while waiting and len(causes) < 50:
        cause = waiting.pop(0)
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
        else:
            causes.append(cause)
        waiting += [
            cause for cause in (cause.__cause__, cause.__context__) if cause is not None and cause not in causes
        ]
    own_errors: list[BaseException] = [cause for cause in causes if isinstance(cause, HeadgateError)]
    return own_errors or causes
