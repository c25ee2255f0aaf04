"""What a running component may reach: models, HTTP, secrets, files, tokens, cancellation. Nothing else."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue, SecretStr

from headgate.foundation.guarded_http import HttpAnswer
from headgate.graph.manifest import Manifest
from headgate.graph.secret_reference import SecretReference
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.values import File, Message, Model, Recording, Tool, Transcript

if TYPE_CHECKING:  # the chat model type is named without importing LangChain at start-up
    from langchain_core.language_models import BaseChatModel


__all__ = ["CodeRunner", "Files", "HttpAnswer", "HttpClient", "RunContext", "RunInput", "WorkspaceTools"]


@dataclass(frozen=True, slots=True)
class RunInput:
    """What a run was started with (seed 002, input_payload_json)."""

    text: str = ""
    form_data: Mapping[str, JsonValue] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    history: tuple[Message, ...] = ()
    """Earlier messages of the chat session, oldest first; empty outside a chat."""
    outside: tuple[str, ...] = ()
    """Marks of text and answers that come from outside: of an anonymous visitor."""
    chat_outside: tuple[str, ...] = ()
    """Marks of the earlier messages."""


class HttpClient(Protocol):
    """The guarded client: private addresses refused, redirects re-checked, sizes and times capped."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """One request. Raises `UpstreamFailed` when the server cannot be reached, `Forbidden` when it may not be."""
        ...


class Files(Protocol):
    """Files of this run: what was uploaded, what earlier steps made."""

    async def of_run(self) -> tuple[File, ...]:
        """What the steps of this run have made so far, oldest first."""
        ...

    async def read(self, file: File) -> bytes:
        """The content. Raises `NotFound`."""
        ...

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Store a new artifact of this step."""
        ...


class CodeRunner(Protocol):
    """Runs code that is not Headgate's, isolated from the server."""

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Call a function of `code` with JSON arguments. Raises `Invalid` with the code's own error and line."""
        ...

    async def call_host(
        self,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Load `code` as a module and call a trusted function of the platform's on it, where the code runs.

        Args:
            code: The whole source.
            host: `module:function`, such as `headgate.sdk.hosting:produce`; it gets the module and the arguments.
            arguments: JSON.
            manifest: What the code may import and reach.
            timeout_seconds: For the whole call, loading included.

        Raises:
            Invalid: The code failed, with its own error and line.
        """
        ...

    def opens(self, manifest: Manifest) -> bool:
        """Whether whoever runs the installation lets own code reach every host that a manifest names."""
        ...


class WorkspaceTools(Protocol):
    """Five file tools on the workspace of whoever started the run.

    Each answers with `status` and what it found, or with `error` and `path`; none raises.
    """

    async def read_file(self, path: str, offset: int | None = None, limit: int | None = None) -> dict[str, JsonValue]:
        """Lines of a text file with their numbers, from line `offset`, at most `limit` of them."""
        ...

    async def write_file(self, path: str, content: str) -> dict[str, JsonValue]:
        """Write a file whole."""
        ...

    async def edit_file(
        self, path: str, old_string: str, new_string: str, *, replace_all: bool = False
    ) -> dict[str, JsonValue]:
        """Put one text in the place of another."""
        ...

    async def glob_search(self, pattern: str, path: str = "") -> dict[str, JsonValue]:
        """Files whose path matches a pattern."""
        ...

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
        ...

    async def metadata(self) -> dict[str, JsonValue]:
        """Whose files these are, as things are now: auto_login, mode, effective_root, resolution_error and the rest."""
        ...


class RunContext(Protocol):
    """Handed to a component as `self.ctx` for the length of one step."""

    @property
    def run_id(self) -> str:
        """Id of the run."""
        ...

    @property
    def node_id(self) -> str:
        """Id of the node this step is."""
        ...

    @property
    def input(self) -> RunInput:
        """What the run was started with."""
        ...

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""
        ...

    @property
    def files(self) -> Files:
        """Files of the run."""
        ...

    @property
    def code(self) -> CodeRunner:
        """The sandbox for code that came with the flow."""
        ...

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Call a trusted function of the platform on content from outside, in a process that can be killed.

        Args:
            function: `module:function`; it takes `(module, arguments)` and gives JSON.
            arguments: JSON.
            timeout_seconds: For the whole call.

        Raises:
            Invalid: It took too long, ran out of memory or crashed.
            TooLarge: Arguments or result are over a limit.
        """
        ...

    async def chat_model(self, model: Model) -> "BaseChatModel":
        """A LangChain chat model, keys filled in. Raises `Invalid` naming the missing key or extra."""
        ...

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Ids of the files that a model takes as they are; the rest goes to it as text.

        Args:
            model: The model that will be asked.
            files: What is to go along.
            unreadable: Whether the documents among them have no text that could go in their place.

        Raises:
            Invalid: It takes no such file; names the model, what it lacks, and models that can.
            TooLarge: A file is over what it takes.
        """
        ...

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:
        """The words of a recording, by a model that turns speech into text. Raises as a chat model's call does."""
        ...

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
        """Make an outside call once: a later attempt at an interrupted or failed step reuses the stored answer.

        Args:
            request: Identifies the call.
            call: Makes the call. Its error is raised and not stored: the next attempt repeats the call.
        """
        ...

    def idempotency_key(self) -> str:
        """The `Idempotency-Key` of the next request with side effects.

        Every attempt of the run returns the same keys in the same order; another run returns different keys.
        """
        ...

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:
        """The value of a secret that the saved flow refers to; with `url`, to be sent to that address.

        Raises `NotFound` naming it, `Forbidden` when it belongs to other servers.
        """
        ...

    async def emit(self, token: str) -> None:
        """Send a piece of text to whoever watches the run."""
        ...

    async def check_cancelled(self) -> None:
        """Raise `Cancelled` when the run was cancelled. Call before every outside effect and in long loops."""
        ...

    def outside(self, field: str | None = None) -> tuple[str, ...]:
        """Marks of the content from outside that reached the step so far, or of what one field holds."""
        ...

    def mark_outside(self, marks: Sequence[str]) -> None:
        """Content with these marks reached the step: the stored answer of an earlier attempt, for example."""
        ...

    def record_prompt(self, prompt: str) -> None:
        """Keep the prompt as it was sent, for the evidence."""
        ...

    def record_usage(self, model: Model, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Add the tokens of one model call to the step."""
        ...

    async def mcp_tools(self, server: str) -> Sequence[Tool]:
        """The enabled tools of an MCP server that the flow's space has registered; nothing is sent yet.

        Raises `NotFound` naming the nearest server, `Invalid` when its tools have not been found yet.
        """
        ...

    async def workspace(self, root_path: str = "", *, read_only: bool = False) -> WorkspaceTools:
        """The workspace of whoever started the run, from a folder in it; what is wrong with it, its answers say."""
        ...

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
        """Keep a tool call for the evidence; `sdk.tools.call_tool` does.

        Args:
            name: The tool, with its server before it: `server.tool`.
            arguments: What it was called with.
            result: What it answered.
            server: The MCP server it belongs to.
            error: What it refused or failed with, in place of a result.
            ms: Milliseconds it took.
            replayed: Whether the result is that of an earlier attempt at the step.
        """
        ...

    def log(self, message: str, **details: JsonValue) -> None:
        """A line in the step's own log, shown beside its result."""
        ...

    async def sleep(self, seconds: float, *, restartable: bool = False) -> None:
        """Wait, ending at once when the run is cancelled.

        `restartable` says that the step may begin again after the wait: workers then end the attempt during a long
        wait and begin the next one when the time is up. Keep the moment with `once`, or each attempt waits anew.
        """
        ...
