"""`self.ctx` of a custom component, which runs in a sandbox worker, separate from the installation."""

import asyncio
import base64
import hashlib
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.message import Message as Headers
from http.client import HTTPException
from typing import IO, Any, NoReturn

from pydantic import JsonValue, SecretStr

from headgate.foundation.errors import Forbidden, NotFound, TooLarge, UpstreamFailed
from headgate.foundation.guarded_http.answer import HttpAnswer
from headgate.graph.names import clipped
from headgate.graph.secret_reference import SecretReference
from headgate.sdk.approvals import ApprovalRequest
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.context import RunInput
from headgate.sdk.sent_events import EventQuery, OutgoingEvent
from headgate.sdk.values import File, Message, Model, Recording, Tool, Transcript

MOST_ANSWER_BYTES = 8 << 20
"""Maximum size of one HTTP response."""
MOST_FILES = 20
MOST_FILE_BYTES = 4 << 20
"""Maximum total size of the files that one call creates: they are part of the worker's response."""
MOST_LINES = 200
LINE_CHARACTERS = 2_000


class NotInTheSandbox(Forbidden):
    """A custom component used a feature that is only available to built-in components."""

    code = "not_in_the_sandbox"
    title = "Not available in the sandbox"


class HostedContext:
    """A `RunContext` inside a worker. The component's log and files are read from it afterwards.

    Args:
        payload: `{"run_id", "node_id", "input", "files"}`; files are their content in base64 by id, null input if
            the component does not declare that it reads it.
    """

    def __init__(self, payload: Mapping[str, Any]) -> None:
        self.run_id: str = payload.get("run_id", "")
        self.node_id: str = payload.get("node_id", "")
        self._input = payload.get("input")
        self.http = HostedHttp()
        self.files = HostedFiles(payload.get("files") or {})
        self.lines: list[dict[str, JsonValue]] = []
        self.tokens: list[str] = []
        self._keys = 0

    @property
    def input(self) -> RunInput:
        """The input of the run. Raises `NotInTheSandbox` when the class does not declare that it reads it."""
        if self._input is None:
            raise NotInTheSandbox(
                "This component does not receive the run's input.", remedy="Set reads_input = True on its class."
            )
        return RunInput(
            text=self._input["text"],
            form_data=self._input["form_data"],
            files=tuple(File.model_validate(file) for file in self._input["files"]),
            history=tuple(Message.model_validate(message) for message in self._input["history"]),
        )

    @property
    def code(self) -> NoReturn:
        """Raises `NotInTheSandbox`: the component already runs in a sandbox."""
        raise _refused("run other code", "Write the code in the component itself.")

    async def chat_model(self, model: Model) -> NoReturn:  # noqa: ARG002 - the protocol's signature
        """Raise `NotInTheSandbox`."""
        raise _refused("ask a model", "Connect an AIStep or an Agent, and process its answer.")

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("ask a model", "Connect an AIStep or an Agent, and process its answer.")

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("ask a model", "Connect a Transcribe step, and process its text.")

    async def embed(self, model: Model, texts: Sequence[str]) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("ask a model", "Connect an Embed step, and process its vectors.")

    async def rerank(self, model: Model, query: str, texts: Sequence[str]) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("ask a model", "Connect a Rerank step, and process its items.")

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:  # noqa: ARG002
        """Make the call: custom code stores no results."""
        return CallResult(await call())

    def idempotency_key(self) -> str:
        """Return an `Idempotency-Key`; the same keys in the same order in every attempt at the step."""
        self._keys += 1
        return hashlib.sha256(f"{self.run_id}:{self.node_id}:{self._keys}".encode()).hexdigest()

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:  # noqa: ARG002
        """Raise `NotInTheSandbox`: a secret arrives through a field."""
        raise _refused(
            "look up a secret",
            "Declare a field of type SecretStr, and refer to the secret in the flow.",
        )

    async def connection(self, reference: object) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("open a connection", "Use HTTPRequest with the connection, and connect its output.")

    @property
    def flows(self) -> NoReturn:
        """Raise `NotInTheSandbox`."""
        raise _refused("run a flow", "Add RunFlow to the flow.")

    @property
    def state(self) -> NoReturn:
        """Raise `NotInTheSandbox`."""
        raise _refused("reach the state of the flow", "Add ReadState before it, or WriteState after it.")

    @property
    def knowledge(self) -> NoReturn:
        """Raise `NotInTheSandbox`."""
        raise _refused("search a knowledge base", "Add Retrieve before it.")

    async def mcp_tools(self, server: str) -> Sequence[Tool]:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("reach an MCP server", "Connect McpTools to an Agent.")

    async def workspace(self, root_path: str = "", *, read_only: bool = False) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("reach a workspace", "Connect WorkspaceFiles to an Agent.")

    async def emit(self, token: str) -> None:
        """Buffer a piece of text; readers of the run receive it after the call."""
        if len(self.tokens) < MOST_LINES:
            self.tokens.append(str(token)[:LINE_CHARACTERS])

    async def check_cancelled(self) -> None:
        """Do nothing: a cancelled run ends the worker."""

    def log(self, message: str, **details: JsonValue) -> None:
        """Add a line to the log."""
        if len(self.lines) < MOST_LINES:
            self.lines.append({"message": str(message)[:LINE_CHARACTERS], "details": details})

    def record_prompt(self, prompt: str) -> None:
        """Log a line: custom code cannot provide evidence of prompts."""
        self.log(f"The component reports the prompt: {prompt}")

    def record_usage(self, model: Model, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Log a line: custom code cannot provide evidence of token usage."""
        self.log(f"The component reports the model {model}.", input_tokens=input_tokens, output_tokens=output_tokens)

    def record_tool_call(
        self,
        name: str,
        arguments: Mapping[str, JsonValue],
        result: JsonValue = None,  # noqa: ARG002 - the protocol's signature
        *,
        server: str = "",  # noqa: ARG002
        error: str = "",
        ms: float | None = None,  # noqa: ARG002
        replayed: bool = False,  # noqa: ARG002
    ) -> None:
        """Log a line: custom code cannot provide evidence of tool calls."""
        self.log(f"The component reports a call of {name}.", arguments=dict(arguments), error=error)

    async def approval(self, request: ApprovalRequest) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("ask for an approval", "Connect the component Approval before or after it.")

    async def send_event(self, event: OutgoingEvent) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("send an event", "Connect the component SendEvent after it.")

    async def wait_for_event(self, query: EventQuery) -> NoReturn:  # noqa: ARG002
        """Raise `NotInTheSandbox`."""
        raise _refused("wait for an event", "Connect the component WaitForEvent before it.")

    async def sleep(self, seconds: float, *, restartable: bool = False) -> None:  # noqa: ARG002 - the protocol's
        """Wait; the time counts against the component's limit."""
        await asyncio.sleep(max(0.0, seconds))

    @property
    def turn_over(self) -> bool:
        """Never: the call is one attempt."""
        return False

    async def end_turn(self) -> NoReturn:
        """Raise `NotInTheSandbox`."""
        raise _refused("end its attempt", "Return the output.")


class HostedFiles:
    """The files that a component received, and those that it creates.

    Args:
        given: Content in base64, by the file's id.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self._made: dict[str, bytes] = {}
        self.saved: list[File] = []

    async def of_run(self) -> tuple[File, ...]:
        """Return the files that this call has created; files of other steps arrive through fields."""
        return tuple(self.saved)

    async def read(self, file: File) -> bytes:
        """Return the content of a file that arrived through a field or with the run. Raises `NotFound`."""
        if file.id in self._made:
            return self._made[file.id]
        if file.id not in self._given:
            raise NotFound(
                f"The content of '{clipped(file.name)}' was not passed to the component.",
                remedy="It receives the files of its fields only.",
            )
        return base64.b64decode(self._given[file.id])

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Create a file; it is stored as an artifact of the step after the call. Raises `TooLarge`."""
        size = sum(len(content) for content in self._made.values()) + len(content)
        if size > MOST_FILE_BYTES or len(self.saved) >= MOST_FILES:
            raise TooLarge(
                f"The component creates more than {MOST_FILES} files or {MOST_FILE_BYTES} bytes of files.",
                remedy="Create fewer or smaller files, or return text or a table, which SaveFile turns into a file.",
            )
        file = File(id=f"new-file-{len(self.saved) + 1}", name=name, media_type=media_type, size=len(content))
        self._made[file.id] = bytes(content)
        self.saved.append(file)
        return file

    def made(self) -> list[dict[str, JsonValue]]:
        """Return the created files: `{"id", "name", "media_type", "content"}`, the content in base64."""
        return [
            {
                "id": file.id,
                "name": file.name,
                "media_type": file.media_type,
                "content": base64.b64encode(self._made[file.id]).decode(),
            }
            for file in self.saved
        ]


class HostedHttp:
    """HTTP to the hosts that the component declares and the operator allows, as enforced by the sandbox."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request and return a response of any status. Raises `UpstreamFailed`, `TooLarge`."""
        content = body.encode() if isinstance(body, str) else body
        if not url.lower().startswith(("http://", "https://")):
            raise UpstreamFailed(f"'{clipped(url)}' is not a URL.", remedy="Start it with https://.")
        request = urllib.request.Request(  # noqa: S310 - http and https only, see above
            url, data=content, headers=dict(headers or {}), method=method.upper()
        )
        try:
            return await asyncio.to_thread(_fetch, request, timeout_seconds)
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise UpstreamFailed(
                f"{clipped(url)} could not be reached: {reason}.",
                remedy="Declare its host in `hosts`, and ask the operator to allow it: HEADGATE_SANDBOX__HOSTS.",
            ) from error


def _fetch(request: urllib.request.Request, seconds: float) -> HttpAnswer:
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310 - http and https only
            return _answer(response, response.status, response.headers, response.url)
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error, error.code, error.headers, error.url or request.full_url)


def _answer(body: IO[bytes], status: int, headers: "Headers[str, str]", url: str) -> HttpAnswer:
    content = body.read(MOST_ANSWER_BYTES + 1)
    if len(content) > MOST_ANSWER_BYTES:
        raise TooLarge(
            f"The response of {clipped(url)} is larger than {MOST_ANSWER_BYTES} bytes.", remedy="Request less data."
        )
    return HttpAnswer(
        status=status,
        headers={name.lower(): value for name, value in headers.items()},
        content=content,
        media_type=headers.get_content_type(),
        url=url,
    )


def _refused(feature: str, remedy: str) -> NotInTheSandbox:
    return NotInTheSandbox(f"A custom component cannot {feature}.", remedy=remedy)
