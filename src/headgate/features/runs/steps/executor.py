"""Carries out one step: inputs in, component run, outputs out. Touches no row and holds no connection."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
from pydantic import JsonValue

from headgate.features.runs.deliveries.target import resolve_target
from headgate.features.runs.errors import PolicyUnmet, StepTimeout
from headgate.features.runs.events import StepEvents
from headgate.features.runs.ports import Origin, Services
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.guard import open_guard
from headgate.features.runs.steps.hashes import execution_hash
from headgate.features.runs.steps.inputs import gather_inputs
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.limit import TimeLimit
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.payloads import Packer
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.policies import shape_output
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.steps.secrecy import SecretlessEvents, errors_without
from headgate.features.runs.transitions import Delivery, StepRecord
from headgate.foundation import secret_values
from headgate.foundation.fair_places import work_for
from headgate.foundation.lazy import lazy_module
from headgate.graph.context import build_context, step_entry
from headgate.graph.model import OutputType
from headgate.graph.template import DOCUMENT_OUTPUT
from headgate.sdk import NOT_TAKEN
from headgate.sdk.coerce import encode
from headgate.sdk.outside import Marks

if TYPE_CHECKING:
    from headgate.features.runs.steps import documents
else:
    documents = lazy_module("headgate.features.runs.steps.documents")


@dataclass(frozen=True, slots=True)
class Executed:
    """A step's work: its outputs for the steps after it, and what to write down."""

    outputs: Outputs
    record: StepRecord
    preview: str
    delivery: Delivery | None = None
    """What is to be sent somewhere, once the step is written down."""
    outside: Marks = ()
    """Where the content of the outputs comes from, as far as that is outside."""
    made: tuple[str, ...] = ()
    """Ids of the files it made."""


class StepExecutor:
    """Runs steps of any run on the services of one installation."""

    def __init__(self, services: Services) -> None:
        self._services = services
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
        """Run a step. Raises what component, inputs or policy raise; `recorder` keeps what was seen by then.

        `calls` holds what earlier attempts had answered, opened; without it nothing is stored and reused.
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
        limit = self._services.engine.step_timeout_seconds
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
        )
        try:
            ctx.limit = TimeLimit(limit)
            ctx.longest_sleep = None if run.parking is None else run.parking.longest_sleep
            async with ctx.limit.scope:
                if self._services.classes is not None:
                    ctx.guard = await open_guard(self._services.classes, run, step.id, recorder)
                outputs = await self._work(run, step, ctx, recorder)
                if run.input.files:
                    outside.add(*outside.of_outputs(orjson.dumps(outputs)))
                marks = outside.marks
                packed = await self._packer.pack(origin, step, outputs, recorder.saved_file_ids, outside=marks)
        except TimeoutError as error:
            if not ctx.limit.scope.expired():
                raise
            raise StepTimeout(
                f"Step '{step.id}' took longer than {limit:g} seconds.",
                remedy="Give it less to do, or raise HEADGATE_ENGINE__STEP_TIMEOUT_SECONDS.",
            ) from error
        finally:
            await ctx.aclose()
        record = recorder.as_record(packed.payload, execution_hash(run, step, recorder))
        delivery = None if step.plain else self._delivery(run, step, outputs, outside)
        made = tuple(recorder.saved_file_ids)
        return Executed(outputs, record, packed.preview, delivery, outside=marks, made=made)

    async def _recall(self, run: ActiveRun) -> None:
        """Know the secrets that other processes had read when their results came here; once for all steps after that.

        What they read later cannot be in the values of steps here: those come with the next results that are absorbed.
        """
        absorbed = run.absorbed
        if run.recalled < absorbed:
            await self._services.secrets.recall(run.key)
            run.recalled = max(run.recalled, absorbed)

    def _delivery(
        self, run: ActiveRun, step: PlannedStep, outputs: Outputs, outside: OutsideContent
    ) -> Delivery | None:
        """Where the output goes besides the next steps; `{{...}}` may name the step's own output."""
        policy = step.step.policy
        if policy.output_mode != "http_post":
            return None
        if policy.output_config is None:
            raise PolicyUnmet(f"Step '{step.id}' sends its output and no address is set.", remedy="Set its URL.")
        context = build_context(run.input, {**run.ledger.results, step.id: outputs}, run.planned.plan, step.id)
        own = step_entry(outputs, step.main_output)
        context |= {step.step.alias: own, step.id: own}
        target = resolve_target(policy.output_config, context, as_json=policy.output_type is OutputType.JSON)
        outside.check_request("POST", target.url, delivery=True)
        return self._services.deliveries.seal(Origin(run.key, step.id), target)

    async def _work(self, run: ActiveRun, step: PlannedStep, ctx: StepContext, recorder: Recorder) -> Outputs:
        values = await gather_inputs(run, step, run.planned.components, ctx=ctx, recorder=recorder)
        extra = {name: values.pop(name) for name in step.extra_fields if name in values}
        component = step.component.create(values, node_id=step.id)
        if step.extra_fields:
            component.receive_extra(extra)
        component.attach(ctx)
        outputs: dict[str, JsonValue] = {}
        wanted = [one for one in step.outputs if step.document is None or one[0] != DOCUMENT_OUTPUT]
        component.expect_outputs([name for name, _ in wanted])
        for name, type_ in wanted:
            value = await component.produce(name)
            await self._recall(run)
            if value is not NOT_TAKEN:
                outputs[name] = run.secrets.json(encode(value, type_))
        if step.plain:
            return outputs
        shaped = shape_output(step, outputs)
        return await documents.with_document(step, shaped, ctx) if step.document is not None else shaped
