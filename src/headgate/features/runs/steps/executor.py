"""Executes one step: inputs, component, outputs. Uses no rows and no connection."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import JsonValue

from headgate.features.runs.deliveries.target import resolve_target
from headgate.features.runs.errors import PolicyUnmet, StepTimeout
from headgate.features.runs.events import StepEvents
from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.flows import Components
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.attachments import Attacher
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.failures import continues, outputs_after, passed_through
from headgate.features.runs.steps.flows import FlowStarter, StepFlows
from headgate.features.runs.steps.guard import open_guard
from headgate.features.runs.steps.hashes import execution_hash
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.limit import TimeLimit
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.params import Context, own, resolved_params, shown_to
from headgate.features.runs.steps.payloads import Packer
from headgate.features.runs.steps.payments import StepPayments
from headgate.features.runs.steps.planned import Inlet, PlannedStep
from headgate.features.runs.steps.policies import InputPolicy, shape_output
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.steps.retries import seconds_left
from headgate.features.runs.steps.secrecy import SecretlessEvents, errors_without
from headgate.features.runs.steps.waits import Suspended
from headgate.features.runs.transitions import Delivery, Failed, StepRecord, clock
from headgate.features.runs.waiting import Tries, WaitReason
from headgate.foundation import secret_values
from headgate.foundation.errors import HeadgateError
from headgate.foundation.fair_places import work_for
from headgate.foundation.lazy import lazy_module
from headgate.graph.context import build_context, step_entry
from headgate.graph.model import OutputType
from headgate.sdk import NOT_TAKEN
from headgate.sdk.coerce import coerce, decode, encode
from headgate.sdk.outside import Marks

if TYPE_CHECKING:
    from headgate.features.runs.steps import documents
else:
    documents = lazy_module("headgate.features.runs.steps.documents")

_NO_TRIES = Tries()


@dataclass(frozen=True, slots=True)
class Executed:
    """Result of an execution: outputs for later steps, and the record to store."""

    outputs: Outputs
    record: StepRecord
    preview: str
    items: Mapping[str, int]
    """Number of items of each output that is a list."""
    delivery: Delivery | None = None
    """Delivery to send once the step is stored."""
    outside: Marks = ()
    """Origins of untrusted content in the outputs."""
    made: tuple[str, ...] = ()
    """Ids of the files it created."""
    error: tuple[str, str] | None = None
    """Code and message of a step that failed and whose policy lets the run continue."""


class StepExecutor:
    """Executes steps of any run with the services of one installation."""

    def __init__(self, services: Services, flows: FlowStarter | None = None) -> None:
        self._services = services
        self._flows = flows
        self._packer = Packer(services.limits, services.files)

    async def execute(
        self,
        run: ActiveRun,
        step: PlannedStep,
        recorder: Recorder,
        is_cancelled: Callable[[], Awaitable[bool]],
        *,
        events: StepEvents,
        calls: StepCalls | None = None,
    ) -> Executed:
        """Execute a step. Raises the errors of component, inputs or policy; `recorder` keeps what was recorded by then.

        `calls` holds the opened answered calls of earlier attempts; without it nothing is stored or reused.
        """
        secret_values.use(run.secrets)
        work_for(run.share)
        with errors_without(run.secrets):
            await self._recall(run)
            return await self._execute(run, step, recorder, is_cancelled, events=events, calls=calls)

    async def _execute(
        self,
        run: ActiveRun,
        step: PlannedStep,
        recorder: Recorder,
        is_cancelled: Callable[[], Awaitable[bool]],
        *,
        events: StepEvents,
        calls: StepCalls | None,
    ) -> Executed:
        tries = run.tries.get(step.id, _NO_TRIES)
        limit = seconds_left(step, tries, self._services.engine, clock())
        recorder.add_unrecorded_tokens(tries.tokens_input, tries.tokens_output)
        origin = Origin(run.key, step.id)
        outside = OutsideContent(run, step)
        ctx = StepContext(
            origin,
            run.input,
            self._services,
            recorder=recorder,
            events=SecretlessEvents(events, run.secrets),
            secrets=run.secrets,
            is_cancelled=is_cancelled,
            outside=outside,
            calls=calls,
            flows=self._step_flows(run, step, outside),
        )
        if run.terms.budgets:
            ctx.payments = StepPayments(self._services.budgets, origin, run.terms.budgets)
        metered = nullcontext() if ctx.payments is None else ctx.payments.metered()
        try:
            ctx.limit = TimeLimit(limit)
            ctx.was_woken = run.woken.get(step.id) == WaitReason.TIME
            await self._take_slots(run, step, origin)
            async with metered, ctx.limit.scope:
                outputs = await self._guarded_work(run, step, ctx, recorder, outside)
                marks = outside.marks
                packed = await self._packer.pack(origin, step, outputs, recorder.saved_file_ids, outside=marks)
        except TimeoutError as error:
            if not ctx.limit.scope.expired():
                raise
            raise _timed_out(step, limit) from error
        finally:
            recorder.outside = outside.marks
            await ctx.aclose()
        record = recorder.as_record(packed.payload, execution_hash(run, step, recorder))
        delivery = None if step.plain else self._delivery(run, step, outputs, outside)
        made = tuple(recorder.saved_file_ids)
        return Executed(outputs, record, packed.preview, packed.items, delivery, outside=marks, made=made)

    async def handle(self, run: ActiveRun, step: PlannedStep, failed: Failed, recorder: Recorder) -> Executed | Failed:
        """Return what a failed step outputs where its policy lets the run continue, else its failure."""
        if not continues(step):
            return failed
        try:
            outputs = outputs_after(run, step, failed)
            origin, marks = Origin(run.key, step.id), recorder.outside
            packed = await self._packer.pack(origin, step, outputs, recorder.saved_file_ids, outside=marks)
        except HeadgateError as problem:
            return replace(failed, message=f"{failed.message} Its policy could not be followed: {problem}")
        record = recorder.as_record(packed.payload, execution_hash(run, step, recorder))
        made = tuple(recorder.saved_file_ids)
        error = (failed.code, failed.message)
        return Executed(outputs, record, packed.preview, packed.items, outside=marks, made=made, error=error)

    async def _take_slots(self, run: ActiveRun, step: PlannedStep, origin: Origin) -> None:
        """Take the slot of the run in its flow, and that of the step's key. Raises `Suspended` until both are free."""
        slots = self._services.slots
        most, shared = run.planned.flow.settings.max_concurrent_runs, step.step.policy.concurrency
        if most is not None and not await patiently(lambda: slots.take_flow(origin, most)):
            raise Suspended(WaitReason.SLOT, None)
        if shared is None or step.step.policy.disabled != "no":
            return
        space_id = await patiently(lambda: self._services.spaces.of(run.key.tenant_id, run.key.flow_id))
        if not await patiently(lambda: slots.take_key(origin, space_id, shared.key, shared.max)):
            raise Suspended(WaitReason.SLOT, None)

    def _step_flows(
        self, run: ActiveRun, step: PlannedStep, outside: OutsideContent
    ) -> Callable[[StepContext], StepFlows] | None:
        """Return what creates the flows of one attempt; None where no flow can be started."""
        starter, files = self._flows, self._services.files
        if starter is None:
            return None
        return lambda ctx: StepFlows(
            starter, run, step.id, files, outside=outside, guard=ctx.guard, scope=lambda: ctx.call_scope
        )

    async def _recall(self, run: ActiveRun) -> None:
        """Load the secrets that other processes had read when their results were absorbed here.

        Secrets that they read later can only be in results that are absorbed later.
        """
        absorbed = run.absorbed
        if run.recalled < absorbed:
            await self._services.secrets.recall(run.key)
            run.recalled = max(run.recalled, absorbed)

    def _delivery(
        self, run: ActiveRun, step: PlannedStep, outputs: Outputs, outside: OutsideContent
    ) -> Delivery | None:
        """Return the additional destination of the output; `{{...}}` may name the step's own output."""
        policy = step.step.policy
        if policy.output_mode != "http_post":
            return None
        if policy.output_config is None:
            raise PolicyUnmet(f"Step '{step.id}' sends its output to a URL, but none is set.", remedy="Set its URL.")
        context = build_context(run.input, {**run.ledger.results, step.id: outputs}, run.planned.plan, step.id)
        own_entry = step_entry(outputs, step.main_output)
        context |= {step.step.alias: own_entry, step.id: own_entry}
        target = resolve_target(policy.output_config, context, as_json=policy.output_type is OutputType.JSON)
        outside.check_request("POST", target.url, delivery=True)
        return self._services.deliveries.seal(Origin(run.key, step.id), target)

    async def _guarded_work(
        self, run: ActiveRun, step: PlannedStep, ctx: StepContext, recorder: Recorder, outside: OutsideContent
    ) -> Outputs:
        """Return the outputs of the component; checks classifications, and marks what the run's files brought in."""
        if self._services.classes is not None:
            ctx.guard = await open_guard(self._services.classes, run, step.id, recorder)
        outputs = await self._work(run, step, ctx, recorder)
        if ctx.guard is not None:
            ctx.guard.put_out(outputs)
        if run.input.files:
            outside.add(*outside.of_outputs(orjson.dumps(outputs)))
        return outputs

    async def _work(self, run: ActiveRun, step: PlannedStep, ctx: StepContext, recorder: Recorder) -> Outputs:
        values = await gather_inputs(run, step, run.planned.components, ctx=ctx, recorder=recorder)
        if step.step.policy.disabled == "pass_through":
            return passed_through(step, values)
        extra = {name: values.pop(name) for name in step.extra_fields if name in values}
        component = step.component.create(values, node_id=step.id)
        if step.extra_fields:
            component.receive_extra(extra)
        component.attach(ctx)
        outputs: dict[str, JsonValue] = {}
        port_outputs = [output for output in step.outputs if output[0] not in step.added_outputs]
        component.expect_outputs([name for name, _ in port_outputs])
        for name, type_ in port_outputs:
            value = await component.produce(name)
            await self._recall(run)
            if value is not NOT_TAKEN:
                outputs[name] = run.secrets.json(encode(value, type_))
        if step.plain:
            return outputs
        shaped = shape_output(step, outputs)
        return await documents.with_document(step, shaped, ctx) if step.document is not None else shaped


def _timed_out(step: PlannedStep, seconds: float) -> StepTimeout:
    return StepTimeout(
        f"Step '{step.id}' took longer than {seconds:.6g} seconds.",
        remedy="Reduce its input, or raise the limit in its policy or HEADGATE_ENGINE__STEP_TIMEOUT_SECONDS.",
    )


async def gather_inputs(
    run: ActiveRun, step: PlannedStep, components: Components, *, ctx: StepContext, recorder: Recorder
) -> dict[str, Any]:
    """Return the values of a step's fields. Raises `Invalid` for a mismatch, or what fetching raises."""
    context: Context = {}
    if step.refers or step.attached or not step.plain:
        context = build_context(run.input, run.ledger.results, run.planned.plan, step.id)
    values: dict[str, Any] = dict(step.params)
    if step.refers:
        formatter = shown_to(step.component, ctx)
        values = resolved_params(
            step.params,
            step.step.template,
            context,
            raw=step.raw_fields,
            secret=step.secret_fields,
            formatter=formatter,
        )
    for inlet in step.inlets:
        if not inlet.overridden and run.ledger.arrives(inlet):
            values[inlet.field] = arriving(run, inlet)
    if not step.plain:
        await InputPolicy(run, step, context, ctx=ctx, recorder=recorder).apply(values)
    if step.attached:
        values |= await Attacher(components, context, ctx).values(step)
    return values


def arriving(run: ActiveRun, inlet: Inlet) -> Any:  # noqa: ANN401 - any port value
    """Return the coerced values of the live edges into a field; a list in edge order where the field takes many."""
    values = [
        coerce(decode(own(run.ledger.results[feed.source][feed.output]), feed.type), feed.type, inlet.types)
        for feed in inlet.feeds
        if run.ledger.alive(feed)
    ]
    return values if inlet.many else values[0]
