"""Interface of a running component: models, HTTP, secrets, files, tokens, cancellation. Nothing else."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue, SecretStr

from headgate.foundation.guarded_http import HttpAnswer
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.manifest import Manifest
from headgate.graph.secret_reference import SecretReference
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.connections import Connection
from headgate.sdk.flows import Flows
from headgate.sdk.http import HttpClient
from headgate.sdk.knowledge import Knowledge
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent
from headgate.sdk.state import State
from headgate.sdk.values import File, Message, Model, Recording, Tool, Transcript

if TYPE_CHECKING:  # the chat model type is named without importing LangChain at start-up
    from langchain_core.language_models import BaseChatModel


__all__ = ["CodeRunner", "Files", "HttpAnswer", "HttpClient", "RunContext", "RunInput", "WorkspaceTools"]


@dataclass(frozen=True, slots=True)
class RunInput:
    """The input of a run (seed 002, input_payload_json)."""

    text: str = ""
    form_data: Mapping[str, JsonValue] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    history: tuple[Message, ...] = ()
    """Earlier messages of the chat session, oldest first; empty outside a chat."""
    outside: tuple[str, ...] = ()
    """Marks of text and answers from external sources: of an anonymous visitor."""
    chat_outside: tuple[str, ...] = ()
    """Marks of the earlier messages."""


class Files(Protocol):
    """Files of this run: uploads, and files that earlier steps created."""

    async def of_run(self) -> tuple[File, ...]:
        """Return the files that the steps of this run have created so far, oldest first."""

    async def read(self, file: File) -> bytes:
        """Return the content. Raises `NotFound`."""

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Store a new artifact of this step."""


class CodeRunner(Protocol):
    """Runs custom code, isolated from the server."""

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Call a function of `code` with JSON arguments. Raises `Invalid` with the code's own error and line."""

    async def call_host(
        self,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Load `code` as a module and call a trusted function of Headgate on it inside the sandbox.

        Args:
            code: The complete source.
            host: `module:function`, such as `headgate.sdk.hosting:produce`; it receives the module and the arguments.
            arguments: JSON.
            manifest: What the code may import and access.
            timeout_seconds: For the complete call, including loading.

        Raises:
            Invalid: The code failed, with its own error and line.
        """

    def opens(self, manifest: Manifest) -> bool:
        """Return whether the operator allows custom code to reach every host of a manifest."""


class WorkspaceTools(Protocol):
    """Five file tools on the workspace of the user who started the run, and the content of its files.

    Each tool returns `status` and its result, or `error` and `path`; none raises.
    """

    async def read_content(self, path: str) -> bytes:
        """Return a file's content, also binary. Raises `NotFound`, `Invalid`, `TooLarge`."""

    async def read_file(self, path: str, offset: int | None = None, limit: int | None = None) -> dict[str, JsonValue]:
        """Return lines of a text file with their numbers, from line `offset`, at most `limit` of them."""

    async def write_file(self, path: str, content: str) -> dict[str, JsonValue]:
        """Write a complete file."""

    async def edit_file(
        self, path: str, old_string: str, new_string: str, *, replace_all: bool = False
    ) -> dict[str, JsonValue]:
        """Replace one text with another."""

    async def glob_search(self, pattern: str, path: str = "") -> dict[str, JsonValue]:
        """Return files whose path matches a pattern."""

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

    async def metadata(self) -> dict[str, JsonValue]:
        """Return the current owner of these files: auto_login, mode, effective_root, resolution_error and the rest."""


class RunContext(Protocol):
    """The context of one step, available to a component as `self.ctx`."""

    @property
    def run_id(self) -> str:
        """Id of the run."""

    @property
    def node_id(self) -> str:
        """Id of the node this step is."""

    @property
    def input(self) -> RunInput:
        """What the run was started with."""

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""

    @property
    def files(self) -> Files:
        """Files of the run."""

    @property
    def code(self) -> CodeRunner:
        """The sandbox for custom code."""

    @property
    def flows(self) -> Flows:
        """Flows that the step runs."""

    @property
    def state(self) -> State:
        """Values of the flow that last between its runs."""

    @property
    def knowledge(self) -> Knowledge:
        """Knowledge bases of the flow's space."""

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Call a trusted function of Headgate on external content, in a process that can be killed.

        Args:
            function: `module:function`; it takes `(module, arguments)` and returns JSON.
            arguments: JSON.
            timeout_seconds: For the complete call.

        Raises:
            Invalid: It took too long, ran out of memory or crashed.
            TooLarge: Arguments or result exceed a limit.
        """

    async def chat_model(self, model: Model) -> "BaseChatModel":
        """Return a LangChain chat model with its keys. Raises `Invalid` with the missing key or extra."""

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return ids of the files that a model accepts directly; the others are sent as text.

        Args:
            model: The model of the request.
            files: The files to send.
            unreadable: Whether the documents among them have no text that could be sent instead.

        Raises:
            Invalid: It does not accept such a file; names the model, the missing capability, and models that have it.
            TooLarge: A file exceeds the model's limit.
        """

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:
        """Return the transcript of a recording by a speech-to-text model. Raises like a chat model's call."""

    async def embed(self, model: Model, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return the vectors of at most 64 texts, none empty, in their order. Raises like a chat model's call."""
        ...

    async def rerank(self, model: Model, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how well each of at most 100 texts, none empty, answers a query; the higher, the better.

        Raises like a chat model's call.
        """

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
        """Make an outside call once: a later attempt at an interrupted or failed step reuses the stored answer.

        Args:
            request: Identifies the call.
            call: Makes the call. Its error is raised and not stored: the next attempt repeats the call.
        """

    def idempotency_key(self) -> str:
        """Return the `Idempotency-Key` of the next request with side effects.

        Every attempt of the run returns the same keys in the same order; another run returns different keys.
        """

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:
        """Return the value of a secret that the saved flow refers to; with `url`, for sending it to that URL.

        Raises `NotFound` with its name, `Forbidden` when it belongs to other servers.
        """

    async def connection(self, reference: ConnectionReference) -> Connection:
        """Open a connection that the saved flow names: the one of the user who started the run, else the space's.

        The use is written to the audit log first. Raises `NotFound` with the nearest name, `Forbidden`, or
        `ConnectionUnusable` when it must be authorized again.
        """

    async def emit(self, token: str) -> None:
        """Send a piece of text to the readers of the run."""

    async def check_cancelled(self) -> None:
        """Raise `Cancelled` when the run was cancelled. Call before every external effect and in long loops."""

    def outside(self, field: str | None = None) -> tuple[str, ...]:
        """Return marks of the external content that reached the step so far, or of one field's value."""

    def check_effect(self, server: str, destinations: Sequence[str] = ()) -> None:
        """Raise `OutsideContentRefused` for an effect on the server of a connection that external content would decide.

        Call before an effect that is no HTTP request.

        Args:
            server: The host of the connection.
            destinations: What else says where the effect goes: addresses of recipients, the name of a table.
        """

    def mark_outside(self, marks: Sequence[str]) -> None:
        """Record that content with these marks reached the step, such as the stored result of an earlier attempt."""

    def record_prompt(self, prompt: str) -> None:
        """Record the prompt as sent, for the evidence."""

    def record_usage(self, model: Model, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Add the tokens of one model call to the step."""

    async def mcp_tools(self, server: str) -> Sequence[Tool]:
        """Return the enabled tools of an MCP server registered in the flow's space; sends nothing yet.

        Raises `NotFound` with the nearest server, `Invalid` when its tools have not been discovered yet.
        """

    async def workspace(self, root_path: str = "", *, read_only: bool = False) -> WorkspaceTools:
        """The workspace of the user who started the run, from a folder in it; its tools return errors."""

    def record_tool_call(
        self,
        name: str,
        arguments: Mapping[str, JsonValue],
        result: JsonValue = None,
        *,
        server: str = "",
        error: str = "",
        ms: float | None = None,
        replayed: bool = False,
    ) -> None:
        """Record a tool call for the evidence; `sdk.tools.call_tool` does.

        Args:
            name: The tool, prefixed with its server: `server.tool`.
            arguments: The arguments of the call.
            result: The result.
            server: The MCP server of the tool.
            error: The error, in place of a result.
            ms: Duration in milliseconds.
            replayed: Whether the result is from an earlier attempt at the step.
        """

    def log(self, message: str, **details: JsonValue) -> None:
        """Add a line to the step's log, shown next to its result."""

    async def sleep(self, seconds: float, *, restartable: bool = False) -> None:
        """Wait, ending immediately when the run is cancelled.

        With `restartable` the step may be restarted after the wait: workers then end the attempt during a long wait and
        start the next one afterwards. Store the end time with `once`, or each attempt waits again.
        """

    @property
    def turn_over(self) -> bool:
        """Whether half of the attempt's time limit is over: a step with stored results then calls `end_turn`."""

    async def end_turn(self) -> None:
        """End the attempt. The next one begins at once, with a new time limit, and finds what `once` stored."""

    async def approval(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return the decision of users. Until there is one, the attempt at the step ends, and a later one asks again.

        A step asks once: every attempt must make the same request. Raises `Invalid` for an unknown assignee.
        """

    async def send_event(self, event: OutgoingEvent) -> str:
        """Send an event to waiting steps of the flow's space, and return its id.

        Every attempt at the step sends the same events in the same order; each is sent once.
        """

    async def wait_for_event(self, query: EventQuery) -> ReceivedEvent | None:
        """Return the event, or None when the timeout is over. Until then the attempt at the step ends.

        A step waits for one event: every attempt must make the same query.
        """
