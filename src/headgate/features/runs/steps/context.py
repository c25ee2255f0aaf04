"""The run context: what a component sees as `self.ctx` while its step works."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue, SecretStr

from headgate.features.runs.ports import Origin, RunFiles, Services
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.guard import StepGuard
from headgate.features.runs.steps.limit import TimeLimit
from headgate.features.runs.steps.marking import MarkingHttp, MarkingRunner, MarkingWorkspace
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.parking import Parked
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.steps.secrecy import SecretlessEvents, SecretlessHttp, SecretlessWorkspace
from headgate.features.runs.steps.servers import StepServers
from headgate.features.runs.transitions import clock
from headgate.foundation.errors import Cancelled
from headgate.foundation.ids import new_id
from headgate.foundation.lazy import lazy_module
from headgate.foundation.secret_values import SecretValues
from headgate.graph.manifest import NOTHING
from headgate.sdk import (
    CodeRunner,
    File,
    HttpClient,
    Model,
    Recording,
    RunInput,
    SecretReference,
    Tool,
    Transcript,
    WorkspaceTools,
)
from headgate.sdk.calls import CallRequest, CallResult

if TYPE_CHECKING:  # named without importing LangChain
    from langchain_core.language_models import BaseChatModel

    from headgate.features.models import service as models
else:
    models = lazy_module("headgate.features.models.service")


class StepContext:
    """A `RunContext` on the services of an installation.

    Args:
        origin: The step.
        run_input: What the run was started with.
        services: What may be reached.
        recorder: Takes the evidence.
        events: Where tokens and log lines are shown.
        secrets: The secret values that the run has read.
        is_cancelled: Whether the run was cancelled, here or by another process.
        outside: The content from outside that reaches the step.
        calls: Answered calls of earlier attempts; None when none are stored.
    """

    def __init__(
        self,
        origin: Origin,
        run_input: RunInput,
        services: Services,
        *,
        recorder: Recorder,
        events: SecretlessEvents,
        secrets: SecretValues,
        is_cancelled: Callable[[], Awaitable[bool]],
        outside: OutsideContent,
        calls: StepCalls | None = None,
    ) -> None:
        self._origin = origin
        self._input = run_input
        self._services = services
        self._recorder = recorder
        self._events = events
        self._secrets = secrets
        self._is_cancelled = is_cancelled
        self._outside = outside
        self._calls = calls
        self._files: StepFiles | None = None
        self.limit = TimeLimit()
        """Time limit of the step; the executor sets it."""
        self.longest_sleep: float | None = None
        """Seconds that a restartable step may wait here; None: without limit."""
        self.guard: StepGuard | None = None
        """Where security classes are switched on: asked before a model is."""
        self._servers: StepServers | None = None
        self._code: MarkingRunner | None = None

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return self._origin.key.run_id

    @property
    def node_id(self) -> str:
        """Id of the node."""
        return self._origin.step_id

    @property
    def input(self) -> RunInput:
        """What the run was started with."""
        self._recorder.read_input = True
        self._outside.add(*self._outside.of_input(self._input))
        return self._input

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""
        return MarkingHttp(SecretlessHttp(self._services.http, self._secrets), self._outside)

    @property
    def files(self) -> "StepFiles":
        """Files of the run."""
        if self._files is None:
            self._files = StepFiles(
                self._origin,
                self._input,
                self._services.files,
                recorder=self._recorder,
                secrets=self._secrets,
                outside=self._outside,
            )
        return self._files

    @property
    def code(self) -> CodeRunner:
        """The sandbox, with workers that end with the step."""
        if self._code is None:
            self._code = MarkingRunner(self._services.code.runner(self._origin.key.tenant_id), self._outside)
        return self._code

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Work on content from outside in a process that ends with the call."""
        with self._services.isolated.runner(self._origin.key.tenant_id) as runner:
            return await runner.call_host("", function, arguments, manifest=NOTHING, timeout_seconds=timeout_seconds)

    async def chat_model(self, model: Model) -> "BaseChatModel":
        """A chat model with the tenant's keys. No model is called once the run is cancelled."""
        await self.check_cancelled()
        if self.guard is not None:
            self.guard.check_model(model)
        chat = await self._services.chat_models.chat_model(self._origin, model)
        return chat if self._calls is None else models.answering_once(chat, model, self._calls.of_model(model))

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Which files a model takes as they are."""
        return self._services.chat_models.check_inputs(model, files, unreadable=unreadable)

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:
        """The words of a recording. No model is called once the run is cancelled."""
        await self.check_cancelled()
        if self.guard is not None:
            self.guard.check_model(model)
        content = {
            "audio": hashlib.sha256(audio.content).hexdigest(),
            "language": audio.language,
            "prompt": audio.prompt,
        }
        request = CallRequest.of("model", str(model), {**content, "params": model.params})

        async def call() -> JsonValue:
            transcript = await self._services.chat_models.transcribe(self._origin, model, audio)
            return {"text": transcript.text, "language": transcript.language, "seconds": transcript.seconds}

        result = await self.once(request, call)
        if result.replayed:
            self._recorder.used_model(model)
        else:
            self.record_usage(model, input_tokens=None, output_tokens=None)
        return Transcript(**cast("dict[str, Any]", result.value))

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
        """The answer of a call, or the stored one of an earlier attempt at the step."""
        return await self._calls.once(request, call) if self._calls is not None else CallResult(await call())

    def idempotency_key(self) -> str:
        """The `Idempotency-Key` of the next request with side effects."""
        return self._calls.idempotency_key() if self._calls is not None else new_id()

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:
        """A secret that the saved flow refers to; with `url`, to be sent to that address."""
        return await self._services.secrets.secret(self._origin, reference.name, url=url)

    async def emit(self, token: str) -> None:
        """Show a piece of text to whoever watches."""
        self._events.token(token)

    async def check_cancelled(self) -> None:
        """Raise `Cancelled` when the run was. The database is asked, so any process may have cancelled it."""
        if await self._is_cancelled():
            raise Cancelled(f"Run '{self.run_id}' was cancelled.")

    def record_prompt(self, prompt: str) -> None:
        """Keep a prompt."""
        self._recorder.prompt(prompt)

    def record_usage(self, model: Model, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Count one model call."""
        self._recorder.usage(model, input_tokens, output_tokens)
        self._services.telemetry.metrics.model_called(model.provider, input_tokens, output_tokens)

    async def mcp_tools(self, server: str) -> Sequence[Tool]:
        """The enabled tools of a server of the flow's space."""
        if self._servers is None:
            self._servers = StepServers(self._origin, self._services.mcp, self.check_cancelled, self._outside)
        return await self._servers.tools(server)

    async def workspace(self, root_path: str = "", *, read_only: bool = False) -> WorkspaceTools:
        """The workspace of whoever started the run."""
        tools = await self._services.workspaces.of_run(self._origin.key, root_path, read_only=read_only)
        return MarkingWorkspace(SecretlessWorkspace(tools, self._secrets), self._outside)

    def outside(self, field: str | None = None) -> tuple[str, ...]:
        """Marks of the content from outside that reached the step so far, or of what one field holds."""
        return self._outside.marks if field is None else self._outside.of_field(field)

    def outside_of(self, root: str) -> tuple[str, ...]:
        """Marks of what the root of a reference stands for."""
        return self._outside.of_root(root)

    def mark_outside(self, marks: Sequence[str]) -> None:
        """Content with these marks reached the step."""
        self._outside.add(*marks)

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
        """Keep a tool call and show that it was made."""
        self._recorder.tool_call(name, arguments, result, server=server, error=error, ms=ms, replayed=replayed)
        self._events.tool_call(name, server=server, error=error, ms=ms)

    def log(self, message: str, **details: JsonValue) -> None:
        """Keep a log line and show it."""
        self._events.log(self._recorder.line(message, details, clock()))

    async def sleep(self, seconds: float, *, restartable: bool = False) -> None:
        """Wait; the step's time limit is paused. Raises `Cancelled` after the wait when the run was cancelled.

        Raises `Parked` for a long wait of a restartable step, where the engine parks steps.
        """
        if restartable and self.longest_sleep is not None and seconds > self.longest_sleep:
            raise Parked(clock() + int(seconds * 1_000_000))
        with self.limit.paused():
            await asyncio.sleep(max(0.0, seconds))
        await self.check_cancelled()

    async def aclose(self) -> None:
        """End what was opened for the step."""
        self._events.finish()
        if self._code is not None:
            self._code.close()
        if self._servers is not None:
            await self._servers.aclose()


class StepFiles:
    """Files as one step sees them: those of its run and its flow's space to read, artifacts of its own to write."""

    def __init__(
        self,
        origin: Origin,
        given: RunInput,
        files: RunFiles,
        *,
        recorder: Recorder,
        secrets: SecretValues,
        outside: OutsideContent,
    ) -> None:
        self._origin = origin
        said = [file for message in given.history for file in message.files]
        self._given = {file.id for file in (*given.files, *said)}
        self._files = files
        self._recorder = recorder
        self._secrets = secrets
        self._outside = outside

    async def of_run(self) -> tuple[File, ...]:
        """What the steps of this run have made so far, oldest first."""
        return await self._files.of_run(self._origin.key)

    async def read(self, file: File) -> bytes:
        """The content. Raises `NotFound`, also for a file of another space: an id may come from anywhere."""
        if file.id not in self._recorder.saved_file_ids:
            self._outside.add(*self._outside.of_file(file.id, file.name))
        if file.id in self._given:
            return await self._files.read(self._origin.key.tenant_id, file.id)
        return await self._files.read_in(self._origin.key.tenant_id, self._origin.key.flow_id, file.id)

    async def save(self, name: str, content: bytes, media_type: str) -> File:
        """Keep an artifact of this step."""
        text, content = self._secrets.text(name), self._secrets.content(content)
        file = await self._files.save(self._origin, text, content, media_type)
        self._recorder.saved_file_ids.append(file.id)
        return file
