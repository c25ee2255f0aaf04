"""The run context: what a component accesses as `self.ctx` while its step runs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import JsonValue, SecretStr

from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.waits import Pending
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.circuits import CircuitHttp
from headgate.features.runs.steps.files import StepFiles
from headgate.features.runs.steps.flows import StepFlows
from headgate.features.runs.steps.guard import StepGuard
from headgate.features.runs.steps.knowledge import StepKnowledge
from headgate.features.runs.steps.limit import TimeLimit
from headgate.features.runs.steps.marking import MarkingHttp, MarkingRunner, StepWorkspace
from headgate.features.runs.steps.models import StepModels
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.payments import StepPayments
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.steps.secrecy import SecretlessEvents, SecretlessHttp
from headgate.features.runs.steps.slots import StepSlots
from headgate.features.runs.steps.state import StepState
from headgate.features.runs.steps.waits import SHORTEST_SECONDS, Suspended
from headgate.features.runs.transitions import clock
from headgate.features.runs.waiting import WaitReason
from headgate.foundation.canonical import digest
from headgate.foundation.errors import Cancelled, Invalid
from headgate.foundation.ids import new_id
from headgate.foundation.lazy import lazy_module
from headgate.foundation.secret_values import SecretValues
from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.manifest import NOTHING
from headgate.sdk import (
    CodeRunner,
    Connection,
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
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.flows import Flows
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent
from headgate.sdk.state import State

if TYPE_CHECKING:  # referenced without importing LangChain
    from langchain_core.language_models import BaseChatModel

    from headgate.features.runs.steps import servers
else:
    servers = lazy_module("headgate.features.runs.steps.servers")


class StepContext:
    """A `RunContext` with the services of an installation.

    Args:
        origin: The step.
        run_input: The input of the run.
        services: Services that steps may use.
        recorder: Records evidence.
        events: Publishes tokens and log lines.
        secrets: The secret values that the run has read.
        is_cancelled: Whether the run was cancelled, here or by another process.
        outside: The untrusted content that reaches the step.
        calls: Answered calls of earlier attempts; None when none are stored.
        flows: Creates what runs flows for this attempt; None where none can be run.
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
        flows: Callable[["StepContext"], StepFlows] | None = None,
    ) -> None:
        self._flows = flows
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
        self.slots = StepSlots(services.slots, origin, self)
        self.limit = TimeLimit()
        """Time limit of the step; the executor sets it."""
        self.was_woken = False
        """Whether this attempt begins at the end of a wait: its first restartable sleep is over."""
        self.payments: StepPayments | None = None
        """Charges the budgets of the run; None when it has none."""
        self.guard: StepGuard | None = None
        """Checks classifications before a model is called; None when they are disabled."""
        self._models = StepModels(self, origin, services, recorder=recorder, events=events, calls=calls)
        self._servers: servers.StepServers | None = None
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
        """Input of the run."""
        self._recorder.read_input = True
        self._outside.add(*self._outside.of_input(self._input))
        return self._input

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""
        return self._guarded(self._services.http)

    def _guarded(self, http: HttpClient, *, effect: bool = False) -> HttpClient:
        circuits = self._services.circuits
        if circuits is not None:
            http = CircuitHttp(http, circuits, self._origin.key.tenant_id)
        return MarkingHttp(SecretlessHttp(http, self._secrets), self._outside, effect=effect)

    @property
    def files(self) -> StepFiles:
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
    def flows(self) -> Flows:
        """Flows that the step runs."""
        if self._flows is None:
            raise Invalid("No flow can be run here.", remedy="Run the complete flow.")
        return self._flows(self)

    @property
    def state(self) -> State:
        """Values of the flow that last between its runs."""
        return StepState(self._services.flow_state, self._origin, self._secrets, self._outside, self.guard)

    @property
    def knowledge(self) -> StepKnowledge:
        """Knowledge bases of the flow's space."""
        return StepKnowledge(
            self._services.knowledge, self._origin, self, self._outside, guard=self.guard, secrets=self._secrets
        )

    @property
    def call_scope(self) -> str:
        """The call of a tool that is in progress; empty outside of one."""
        return "" if self._calls is None else self._calls.scope

    @property
    def code(self) -> CodeRunner:
        """The sandbox, with workers that end with the step."""
        if self._code is None:
            self._code = MarkingRunner(self._services.code.runner(self._origin.key.tenant_id), self._outside)
        return self._code

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Isolated processing of untrusted content, in a process that ends with the call."""
        with self._services.isolated.runner(self._origin.key.tenant_id) as runner:
            return await runner.call_host("", function, arguments, manifest=NOTHING, timeout_seconds=timeout_seconds)

    async def chat_model(self, model: Model) -> "BaseChatModel":
        """Return a chat model with the tenant's keys. No model is called once the run is cancelled."""
        return await self._models.chat_model(model)

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return which files a model and its fallback models take as they are."""
        return self._models.check_inputs(model, files, unreadable=unreadable)

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:
        """Transcribe a recording. No model is called once the run is cancelled."""
        return await self._models.transcribe(model, audio)

    async def embed(self, model: Model, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Embed texts, paid for and stored as other model calls. Raises like a chat model's call."""
        return await self._models.embed(model, texts)

    async def rerank(self, model: Model, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how well each text answers a query, paid for and stored as other model calls; the higher, the better.

        Raises like a chat model's call.
        """
        return await self._models.rerank(model, query, texts)

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
        """Return the stored answer of an earlier attempt at the step, or make the call."""
        return await self._calls.once(request, call) if self._calls is not None else CallResult(await call())

    def idempotency_key(self) -> str:
        """Return the `Idempotency-Key` of the next request with side effects."""
        return self._calls.idempotency_key() if self._calls is not None else new_id()

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:
        """Return a secret that the saved flow refers to; with `url`, to be sent to that address."""
        return await self._services.secrets.secret(self._origin, reference.name, url=url)

    async def connection(self, reference: ConnectionReference) -> Connection:
        """Open a connection that the saved flow names. Raises `ConnectionMismatch` for another kind, `ClassRefused`."""
        connection = await self._services.connections.open(self._origin, reference.name)
        connection.require_kind(reference)
        if self.guard is not None and connection.classification is not None:
            self.guard.check_connection(connection.name, connection.classification)
        await self.slots.take_connection(connection)
        self._outside.complete(connection.text("url"))
        effect = connection.kind == "notification"  # its addresses are a secret, which no text of the flow names
        return replace(connection, http=self._guarded(connection.http, effect=effect))

    async def emit(self, token: str) -> None:
        """Publish a token of the step's text."""
        self._events.token(token)

    async def check_cancelled(self) -> None:
        """Raise `Cancelled` when the run was cancelled, by any process: the database is queried."""
        if await self._is_cancelled():
            raise Cancelled(f"Run '{self.run_id}' was cancelled.")

    def record_prompt(self, prompt: str) -> None:
        """Record a prompt."""
        self._recorder.prompt(prompt)

    def record_usage(self, model: Model, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Record one model call."""
        self._recorder.usage(model, input_tokens, output_tokens)
        self._services.telemetry.metrics.model_called(model.provider, input_tokens, output_tokens)

    async def mcp_tools(self, server: str) -> Sequence[Tool]:
        """Return the enabled tools of a server of the flow's space."""
        if self._servers is None:
            self._servers = servers.of_step(self, self._origin, self._services, self._outside, self._calls)
        return await self._servers.tools(server)

    async def workspace(self, root_path: str = "", *, read_only: bool = False) -> WorkspaceTools:
        """Return the workspace of the user who started the run."""
        tools = await self._services.workspaces.of_run(self._origin.key, root_path, read_only=read_only)
        return StepWorkspace(tools, self._outside, self._secrets)

    def outside(self, field: str | None = None) -> tuple[str, ...]:
        """Return marks of the untrusted content that reached the step so far, or of one field."""
        return self._outside.marks if field is None else self._outside.of_field(field)

    def outside_of(self, root: str) -> tuple[str, ...]:
        """Return marks of the value of a reference's root."""
        return self._outside.of_root(root)

    def check_effect(self, server: str, destinations: Sequence[str] = ()) -> None:
        """Raise `OutsideContentRefused` for an effect that untrusted content would decide."""
        self._outside.check_effect(server, destinations)

    def mark_outside(self, marks: Sequence[str]) -> None:
        """Record that content with these marks reached the step."""
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
        """Record and publish a tool call."""
        self._recorder.tool_call(name, arguments, result, server=server, error=error, ms=ms, replayed=replayed)
        self._events.tool_call(name, server=server, error=error, ms=ms)

    def log(self, message: str, **details: JsonValue) -> None:
        """Record and publish a log line."""
        self._events.log(self._recorder.line(message, details, clock()))

    async def sleep(self, seconds: float, *, restartable: bool = False) -> None:
        """Wait; the step's time limit is paused. Raises `Cancelled` after the wait when the run was cancelled.

        Raises `Suspended` for a long wait of a restartable step. A wait inside a call, such as that of an agent's tool,
        keeps its worker: the conversation around it would be lost.
        """
        if restartable and not (self._calls is not None and self._calls.in_call):
            if self.was_woken:
                self.was_woken, seconds = False, 0.0
            if seconds > SHORTEST_SECONDS:
                raise Suspended(WaitReason.TIME, clock() + int(seconds * 1_000_000))
        with self.limit.paused():
            await asyncio.sleep(max(0.0, seconds))
        await self.check_cancelled()

    @property
    def turn_over(self) -> bool:
        """Whether half of the attempt's time limit is over; never inside a call, whose attempt cannot end."""
        return self.limit.half_over and self._calls is not None and not self._calls.in_call

    async def end_turn(self) -> None:
        """End the attempt by a wait that is over. Raises `Suspended`, `Cancelled`."""
        await self.check_cancelled()
        raise Suspended(WaitReason.TIME, clock())

    async def approval(self, request: ApprovalRequest, *, place: str = "") -> ApprovalAnswer:
        """Return the decision of users; a call has one for each `place`. Raises `Suspended` until there is one."""
        await self.check_cancelled()
        if request.notify_url:
            self._outside.check_request("POST", request.notify_url, delivery=True)
        hidden = self._secrets.text
        questions = tuple(
            field.model_copy(
                update={"label": hidden(field.label), "options": tuple(hidden(option) for option in field.options)}
            )
            for field in request.questions
        )
        value = self._secrets.json(request.value)
        shown = replace(request, question=hidden(request.question), value=value, questions=questions)
        level = None if self.guard is None else self.guard.reached
        scope = digest([self.call_scope, place]) if place else self.call_scope
        approvals, origin = self._services.approvals, self._origin
        answer = await patiently(lambda: approvals.ask(origin, shown, scope=scope, classification=level))
        if not isinstance(answer, ApprovalAnswer):
            raise Suspended(WaitReason.APPROVAL, answer.until)
        return answer

    async def send_event(self, event: OutgoingEvent) -> str:
        """Send an event once for all attempts at the step, and return its id."""
        await self.check_cancelled()
        self._refuse_secrets(event.name, event.correlation)
        shown, key, marks = (
            replace(event, data=self._secrets.json(event.data)),
            self.idempotency_key(),
            self._outside.marks,
        )
        level = None if self.guard is None else self.guard.incoming
        sent_events, origin = self._services.sent_events, self._origin
        return await patiently(lambda: sent_events.send(origin, shown, key=key, classification=level, outside=marks))

    async def wait_for_event(self, query: EventQuery) -> ReceivedEvent | None:
        """Return the event, None after the timeout. Raises `Suspended` until then."""
        await self.check_cancelled()
        self._refuse_secrets(query.name, query.correlation)
        receipt = await patiently(lambda: self._services.sent_events.wait(self._origin, query))
        if isinstance(receipt, Pending):
            raise Suspended(WaitReason.EVENT, receipt.until)
        if receipt is None:
            return None
        if self.guard is not None and receipt.classification is not None:
            self.guard.check_event(receipt.classification)
        self._outside.add(*receipt.outside)
        return receipt.event

    def _refuse_secrets(self, *texts: str) -> None:
        """Raise `Invalid` for names and correlation values that contain a secret: they are stored in clear text."""
        if any(self._secrets.text(text) != text for text in texts):
            raise Invalid(
                f"Step '{self.node_id}' uses a secret in the name or the correlation value of an event.",
                remedy="Use a value that is no secret, for example an order number.",
            )

    async def aclose(self) -> None:
        """Close what was opened for the step."""
        self._events.finish()
        if self._code is not None:
            self._code.close()
        if self._servers is not None:
            await self._servers.aclose()
