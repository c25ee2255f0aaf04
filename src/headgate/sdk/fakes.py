"""In-memory fakes of the run context; `headgate.sdk.testing` provides them."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue, SecretStr

from headgate.foundation.errors import Cancelled, HeadgateError, Invalid, NotFound, UpstreamFailed
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.manifest import NOTHING, Manifest
from headgate.graph.secret_reference import SecretReference
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.connections import Connection
from headgate.sdk.context import HttpAnswer, RunInput, WorkspaceTools
from headgate.sdk.fake_flows import FakeFlows
from headgate.sdk.fake_knowledge import FakeKnowledge
from headgate.sdk.fake_state import FakeState
from headgate.sdk.outside import merged
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent
from headgate.sdk.values import File, Model, Recording, Tool, Transcript
from headgate.sdk.waiting import StepWaits

if TYPE_CHECKING:  # named without importing LangChain
    from langchain_core.language_models import BaseChatModel

CodeHandler = Callable[[str, str, Mapping[str, JsonValue]], JsonValue | Awaitable[JsonValue]]


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that a component made."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    timeout_seconds: float

    @property
    def json(self) -> JsonValue:
        """The body as JSON."""
        document: JsonValue = json.loads(self.body)
        return document


class FakeHttp:
    """A fake web of scripted responses; every other URL fails like an unreachable server."""

    def __init__(self) -> None:
        self.requests: list[SentRequest] = []
        self._answers: dict[tuple[str, str], list[HttpAnswer | HeadgateError]] = {}

    def answer(
        self,
        url: str,
        body: str | bytes | dict[str, Any] | list[Any] = "",
        *,
        method: str = "GET",
        status: int = 200,
        media_type: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Script a response. Several responses for one URL are returned in turn; the last one repeats."""
        is_json = isinstance(body, dict | list)
        text = json.dumps(body) if isinstance(body, dict | list) else body
        content = text.encode() if isinstance(text, str) else text
        media = media_type or ("application/json" if is_json else "text/plain")
        response = HttpAnswer(
            status=status,
            headers={"content-type": media, **{key.lower(): value for key, value in (headers or {}).items()}},
            content=content,
            media_type=media.partition(";")[0],
            url=url,
        )
        self._answers.setdefault((method.upper(), url), []).append(response)

    def fail(self, url: str, error: HeadgateError, *, method: str = "GET") -> None:
        """Script a failure of the client itself: `UpstreamFailed`, `Forbidden`."""
        self._answers.setdefault((method.upper(), url), []).append(error)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Record the request and return the scripted response."""
        content = body.encode() if isinstance(body, str) else body or b""
        self.requests.append(SentRequest(method.upper(), url, dict(headers or {}), content, timeout_seconds))
        responses = self._answers.get((method.upper(), url))
        if not responses:
            raise UpstreamFailed(f"No answer is scripted for {method.upper()} {url}.")
        response = responses.pop(0) if len(responses) > 1 else responses[0]
        if isinstance(response, HeadgateError):
            raise response
        return response


class FakeFiles:
    """Files in memory; `saved` contains those that the component created."""

    def __init__(self) -> None:
        self.saved: list[File] = []
        self._contents: dict[str, bytes] = {}

    def add(self, name: str, content: bytes, media_type: str = "") -> File:
        """Add a file to the run; the media type is guessed from the name when empty."""
        media = media_type or guess_type(name)[0] or "application/octet-stream"
        file = File(id=f"file-{len(self._contents) + 1}", name=name, media_type=media, size=len(content))
        self._contents[file.id] = content
        return file

    async def of_run(self) -> tuple[File, ...]:
        """Return the saved files."""
        return tuple(self.saved)

    async def read(self, file: File) -> bytes:
        """Return the content. Raises `NotFound`."""
        if file.id not in self._contents:
            raise NotFound(f"There is no file {file.id} ({file.name}).")
        return self._contents[file.id]

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Store a new file and add it to `saved`."""
        file = self.add(name, content, media_type)
        self.saved.append(file)
        return file


@dataclass(frozen=True, slots=True)
class CodeCall:
    """A call into the sandbox."""

    code: str
    function: str
    """The code's own function, or the trusted function."""
    arguments: dict[str, JsonValue]
    timeout_seconds: float
    manifest: Manifest | None = None
    """Permissions of the code, in calls of trusted functions."""


class FakeCode:
    """Replaces the sandbox: your handler receives `(code, function, arguments)`.

    `closed` contains the hosts that custom code may not reach.
    """

    def __init__(self, handler: CodeHandler | None = None) -> None:
        self.handler = handler
        self.closed: set[str] = set()
        self.calls: list[CodeCall] = []

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Record the call and return the handler's result."""
        return await self._answer(CodeCall(code, function, dict(arguments), timeout_seconds))

    async def call_host(
        self,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Record the call and return the handler's result; it receives the trusted function's name."""
        return await self._answer(CodeCall(code, host, dict(arguments), timeout_seconds, manifest))

    def opens(self, manifest: Manifest) -> bool:
        """Return whether none of a manifest's hosts is closed."""
        return self.closed.isdisjoint(manifest.hosts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the execution; the calls stay recorded."""

    async def _answer(self, call: CodeCall) -> JsonValue:
        self.calls.append(call)
        if self.handler is None:
            raise Invalid("No code handler is scripted.", remedy="Give StepHarness a code= function.")
        result = self.handler(call.code, call.function, call.arguments)
        return await result if isinstance(result, Awaitable) else result


class InProcess(FakeCode):
    """Replaces the processes of `RunContext.isolated`: calls Headgate's functions in this process."""

    async def call_host(
        self,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Record the call and execute it."""
        self.calls.append(CodeCall(code, host, dict(arguments), timeout_seconds, manifest))
        module, _, name = host.partition(":")
        result: JsonValue = getattr(import_module(module), name)(None, arguments)
        return result


@dataclass
class FakeContext:
    """A run context in memory. It records the component's actions in plain lists."""

    input: RunInput = field(default_factory=RunInput)
    run_id: str = "run-1"
    node_id: str = "node"
    http: FakeHttp = field(default_factory=FakeHttp)
    files: FakeFiles = field(default_factory=FakeFiles)
    code: FakeCode = field(default_factory=FakeCode)
    flows: FakeFlows = field(default_factory=FakeFlows)
    state: FakeState = field(default_factory=FakeState)
    knowledge: FakeKnowledge = field(default_factory=FakeKnowledge)
    model: "BaseChatModel | None" = None
    secrets: dict[str, str] = field(default_factory=dict)
    connections: dict[str, Connection] = field(default_factory=dict)
    models: list[Model] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    usage: list[tuple[str, int | None, int | None]] = field(default_factory=list)
    tool_calls: list[tuple[str, dict[str, JsonValue], JsonValue]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    mcp_servers: dict[str, list[Tool]] = field(default_factory=dict)
    workspaces: Callable[[str, bool], WorkspaceTools] | None = None
    """Workspaces by root path and read-only flag."""
    refuses: frozenset[str] = frozenset()
    recordings: list[Recording] = field(default_factory=list)
    transcript: Transcript = field(default_factory=lambda: Transcript("The transcript."))
    approvals: list[ApprovalRequest] = field(default_factory=list)
    approval_answer: ApprovalAnswer = field(default_factory=lambda: ApprovalAnswer("approve"))
    sent_events: list[OutgoingEvent] = field(default_factory=list)
    event_queries: list[EventQuery] = field(default_factory=list)
    event: ReceivedEvent | None = None
    """The event that arrives; None: the timeout."""
    cancelled: bool = False
    turn: int | None = None
    """Tool calls after which the attempt should end; None: it has no end."""
    key_count: int = 0
    """Idempotency keys returned."""
    effects: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Checked effects: server and destinations."""
    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Marks of external content, by field."""

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Call it in this process."""
        return await InProcess().call_host("", function, arguments, manifest=NOTHING, timeout_seconds=timeout_seconds)

    async def chat_model(self, model: Model) -> "BaseChatModel":
        """Return the scripted model for every request; records the request in `models`."""
        self.models.append(model)
        if self.model is None:
            raise Invalid(f"No chat model is scripted for {model}.", remedy="Give StepHarness a chat_model=.")
        return self.model

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return every image, audio and video, and unreadable documents; `refuses` contains the rejected kinds."""
        kinds = {file.id: file.media_type.partition("/")[0] for file in files}
        refused = next((file for file in files if kinds[file.id] in self.refuses), None)
        if refused is not None:
            raise Invalid(f"{model} takes no {kinds[refused.id]}.", remedy="Choose another model.")
        return frozenset(id_ for id_, kind in kinds.items() if kind in {"image", "audio", "video"} or unreadable)

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:
        """Return the scripted transcript; records the request in `models` and `recordings`."""
        self.models.append(model)
        self.recordings.append(audio)
        return self.transcript

    async def embed(self, model: Model, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return the number of characters and of words of each text; records the request in `models`."""
        self.models.append(model)
        return tuple((float(len(text)), float(len(text.split()))) for text in texts)

    async def rerank(self, model: Model, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the number of words that each text shares with the query; records the request in `models`."""
        self.models.append(model)
        words = set(query.lower().split())
        return tuple(float(len(words & set(text.lower().split()))) for text in texts)

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:  # noqa: ARG002
        """Make the call."""
        return CallResult(await call())

    def idempotency_key(self) -> str:
        """`key-1`, `key-2` and so on."""
        self.key_count += 1
        return f"key-{self.key_count}"

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:  # noqa: ARG002
        """Return a scripted secret, for any URL. Raises `NotFound` with its name."""
        if reference.name not in self.secrets:
            raise NotFound(f"There is no secret '{reference.name}'.")
        return SecretStr(self.secrets[reference.name])

    async def connection(self, reference: ConnectionReference) -> Connection:
        """Return a scripted connection. Raises `NotFound` with its name."""
        if reference.name not in self.connections:
            raise NotFound(f"There is no connection '{reference.name}'.", remedy="Use StepHarness.connect.")
        connection = self.connections[reference.name]
        connection.require_kind(reference)
        return connection

    async def emit(self, token: str) -> None:
        """Record a token."""
        self.tokens.append(token)

    async def check_cancelled(self) -> None:
        """Raise `Cancelled` when `cancelled` was set."""
        if self.cancelled:
            raise Cancelled("The run was cancelled.")

    def outside(self, field: str | None = None) -> tuple[str, ...]:
        """Return the marks that the test set: of a field, or all of them."""
        return self.marks.get(field, ()) if field is not None else merged(*self.marks.values())

    def check_effect(self, server: str, destinations: Sequence[str] = ()) -> None:
        """Record the effect."""
        self.effects.append((server, tuple(destinations)))

    def mark_outside(self, marks: Sequence[str]) -> None:
        """Record the marks."""
        self.marks[""] = merged(self.marks.get("", ()), marks)

    def record_prompt(self, prompt: str) -> None:
        """Record a prompt."""
        self.prompts.append(prompt)

    def record_usage(self, model: Model, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Record the model and the tokens of one call."""
        self.usage.append((str(model), input_tokens, output_tokens))

    async def mcp_tools(self, server: str) -> Sequence[Tool]:
        """Return the scripted tools of a server. Raises `NotFound` with its name."""
        if server not in self.mcp_servers:
            raise NotFound(f"There is no MCP server '{server}'.")
        return self.mcp_servers[server]

    async def workspace(self, root_path: str = "", *, read_only: bool = False) -> WorkspaceTools:
        """Return the scripted workspace. Raises `Invalid` when there is none."""
        if self.workspaces is None:
            raise Invalid("No workspace is scripted.", remedy="Set workspaces of the context.")
        return self.workspaces(root_path, read_only)

    def record_tool_call(
        self,
        name: str,
        arguments: Mapping[str, JsonValue],
        result: JsonValue = None,
        *,
        server: str = "",  # noqa: ARG002 - the signature is the protocol's
        error: str = "",
        ms: float | None = None,  # noqa: ARG002 - the signature is the protocol's
        replayed: bool = False,  # noqa: ARG002 - the signature is the protocol's
    ) -> None:
        """Record a tool call, with its error in place of the result."""
        self.tool_calls.append((name, dict(arguments), {"error": error} if error else result))

    def log(self, message: str, **details: JsonValue) -> None:
        """Record a line, followed by its details as JSON."""
        self.logs.append(f"{message} {json.dumps(details)}" if details else message)

    async def sleep(self, seconds: float, *, restartable: bool = False) -> None:  # noqa: ARG002 - the protocol's
        """Record the seconds and return immediately, unless cancelled."""
        await self.check_cancelled()
        self.slept.append(seconds)

    @property
    def turn_over(self) -> bool:
        """Whether the attempt should end: `turn` calls were recorded."""
        return self.turn is not None and len(self.tool_calls) >= self.turn

    async def end_turn(self) -> None:
        """Raise `StepWaits`, as when the attempt ends."""
        raise StepWaits(None)

    async def approval(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Record the request and return the scripted answer."""
        self.approvals.append(request)
        return self.approval_answer

    async def send_event(self, event: OutgoingEvent) -> str:
        """Record the event and return an id."""
        self.sent_events.append(event)
        return f"event-{len(self.sent_events)}"

    async def wait_for_event(self, query: EventQuery) -> ReceivedEvent | None:
        """Record the query and return the scripted event."""
        self.event_queries.append(query)
        return self.event
