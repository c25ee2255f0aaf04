"""Compiled plans with the precomputed constant properties of each step."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from headgate.features.runs.ports.flows import Components, Definitions
from headgate.features.runs.transitions import RunKey, Seed
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.lazy import lazy_module
from headgate.graph.execution_hash import step_logic_hash
from headgate.graph.interpolate import Reference, references_in
from headgate.graph.mentions import mentions
from headgate.graph.model import Flow, FlowSettings, FormField, InputSource, RetryPolicy, StepPolicy
from headgate.graph.named_outputs import Locate, NamedOutput, named_outputs, required_outputs
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import typed_params
from headgate.graph.template import DOCUMENT_OUTPUT, ERROR_OUTPUT, Template
from headgate.graph.wiring import FLOW_INPUT
from headgate.sandbox.documents.job import Format
from headgate.sdk import Component

if TYPE_CHECKING:
    from headgate.features.catalog.own import gate
    from headgate.features.flows.readiness import check
    from headgate.features.flows.readiness.answer import Readiness
    from headgate.sandbox.documents import maker
else:
    gate = lazy_module("headgate.features.catalog.own.gate")
    check = lazy_module("headgate.features.flows.readiness.check")
    maker = lazy_module("headgate.sandbox.documents.maker")

MOST_PLANS = 256
_PLAIN = StepPolicy()
_SETTINGS = FlowSettings()
_ATTEMPTS = ("retry", "timeout_seconds", "total_timeout_seconds", "on_error", "default_value")
_FAILURES = {name: getattr(_PLAIN, name) for name in _ATTEMPTS}


@dataclass(frozen=True, slots=True)
class Feed:
    """One data edge, from the view of its target step."""

    source: str
    output: str
    type: PortType


@dataclass(frozen=True, slots=True)
class Inlet:
    """A field with incoming edges."""

    field: str
    types: tuple[PortType, ...]
    many: bool
    feeds: tuple[Feed, ...]
    indispensable: bool
    """Whether the step cannot run without a value here: required, and no value set."""
    overridden: bool
    """Whether the step's policy provides the value instead of the edges."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a plan, prepared for execution."""

    id: str
    """The node id."""
    step: PlanStep
    component: type[Component]
    inlets: tuple[Inlet, ...]
    named: tuple[NamedOutput, ...]
    """What the references of a step without edges name of earlier steps."""
    required: tuple[tuple[NamedOutput, ...], ...]
    """What the references of each required field name, of fields without edges that name nothing else."""
    extra_fields: frozenset[str]
    outputs: tuple[tuple[str, PortType], ...]
    main_output: str | None
    """The output that `{{step.output}}` refers to."""
    document: Format | None
    """The file format to which the main output is additionally rendered."""
    params: Mapping[str, Any]
    """The node's saved params, with secret references as `SecretReference`."""
    secret_fields: frozenset[str]
    """Fields that may contain a secret."""
    raw_fields: frozenset[str]
    """Fields whose `{{...}}` are not resolved here."""
    refers: bool
    """Whether any param contains a reference."""
    plain: bool
    """Whether its policy says nothing about input, output and tools."""
    attached: bool
    reads_input: bool
    """Whether its params, policy or attachments refer to the run's input."""
    retry: RetryPolicy | None
    """The retries of its policy, else those of the flow's settings."""
    timeout_seconds: float | None
    """Limit of one attempt; None: that of the installation."""
    logic: str
    """Hash of the step's logic, independent of its input."""
    told: Mapping[str, JsonValue]
    """The data that every event of the step contains."""

    @property
    def added_outputs(self) -> frozenset[str]:
        """Outputs that its policy adds to those of its component."""
        names = [DOCUMENT_OUTPUT] * (self.document is not None) + [ERROR_OUTPUT] * self.step.policy.has_error_output
        return frozenset(names)

    @property
    def label(self) -> str:
        """Its display name."""
        return self.step.node.label or self.id


@dataclass(frozen=True)
class PlannedFlow:
    """A version, prepared for execution."""

    name: str
    plan: Plan
    steps: Mapping[str, PlannedStep]
    seeds: tuple[Seed, ...]
    roots: tuple[str, ...]
    """Steps without predecessors; empty where one of them is disabled, so that they are decided one by one."""
    flow: Flow
    form: tuple[FormField, ...]
    components: Components
    """Component classes of its steps and attachments."""

    @cached_property
    def readiness(self) -> "Readiness":
        """Readiness of the version itself, and its external requirements."""
        return check.check(self.flow, self.components, frozen=True)


class Plans:
    """Cache of the plans of recently used versions; versions never change."""

    def __init__(self, definitions: Definitions, components: Components, *, most: int = MOST_PLANS) -> None:
        self._definitions = definitions
        self._components = components
        self._most = most
        self._kept: OrderedDict[tuple[str, int], PlannedFlow] = OrderedDict()

    async def of(self, key: RunKey) -> PlannedFlow:
        """Return the plan of a run's version.

        Raises `FlowInvalid` when its components are no longer compatible, `UnsafeCode`.
        """
        key_of_version = (key.flow_id, key.version)
        planned = self._kept.get(key_of_version)
        if planned is not None:
            self._kept.move_to_end(key_of_version)
            return planned
        flow = await self._definitions(key)
        components = await self._components.for_flow(key.tenant_id, flow)
        await run_in_flow_thread(gate.require_checked, flow, components)  # parsing a lot of code takes a while
        plan = compile_plan(flow, components)
        planned = PlannedFlow(
            name=flow.name,
            plan=plan,
            steps={step.id: prepare_step(plan, step, components, flow.settings) for step in plan.steps},
            seeds=tuple(Seed(step.id, step.order, len(step.parents)) for step in plan.steps),
            roots=_roots(plan),
            flow=flow,
            form=flow.form,
            components=components,
        )
        self._kept[key_of_version] = planned
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return planned


def prepare_step(plan: Plan, step: PlanStep, components: Components, settings: FlowSettings = _SETTINGS) -> PlannedStep:
    """Compute the constant properties of a step. Raises `NotFound` for an unknown component."""
    component = components.component(step.node.type)
    types = {output.name: output.type for output in step.template.outputs}
    raw = frozenset(field.name for field in step.template.fields if not field.interpolate)
    node, policy = step.node, step.policy
    inlets, locate = _inlets(plan, step), _earlier(plan, step)
    return PlannedStep(
        id=step.id,
        step=step,
        component=component,
        inlets=inlets,
        named=() if inlets else _named(step, locate),
        required=tuple(required_outputs(node, step.template, {inlet.field for inlet in inlets}, locate)),
        extra_fields=frozenset(field.name for field in component.extra_fields(step.node.params)),
        outputs=tuple((name, types[name]) for name in step.outputs),
        main_output=step.main_output,
        document=cast("Format", policy.output_type.value) if policy.makes_document else None,
        params=typed_params(step.node.params, step.template),
        secret_fields=frozenset(field.name for field in step.template.fields if field.carries_secret),
        raw_fields=raw,
        refers=any(
            next(references_in(value), None) is not None for name, value in step.node.params.items() if name not in raw
        ),
        plain=_shaping(policy) == _PLAIN,
        attached=bool(step.attachments),
        reads_input=_reads_input(step),
        retry=policy.retry if policy.retry is not None or step.effect else settings.retry,
        timeout_seconds=policy.timeout_seconds or settings.step_timeout_seconds,
        logic=step_logic_hash(step),
        told={"step_id": step.id, "order": step.order, "type": node.type, "label": node.label or step.id},
    )


def _shaping(policy: StepPolicy) -> StepPolicy:
    """Return a policy without what it says about failures and attempts."""
    return policy.model_copy(update=_FAILURES) if policy != _PLAIN else policy


def _roots(plan: Plan) -> tuple[str, ...]:
    if any(step.policy.disabled == "skip" for step in plan.roots):
        return ()
    return tuple(step.id for step in plan.roots)


def _reads_input(step: PlanStep) -> bool:
    if step.policy.input_source is InputSource.FLOW_INPUT:
        return True
    return any(reference.root == FLOW_INPUT for reference in _references(step))


def _references(step: PlanStep) -> Iterator[Reference]:
    """Yield the references of a step and of what is attached to it."""
    nodes = [(step.node, step.template)]
    waiting = list(step.attachments)
    while waiting:
        attachment = waiting.pop()
        nodes.append((attachment.node, attachment.template))
        waiting.extend(attachment.attachments)
    for node, template in nodes:
        yield from (mention.reference for mention in mentions(node, template))


def _earlier(plan: Plan, step: PlanStep) -> Locate:
    """Return what finds the steps before a step by their ids and aliases."""

    @cache
    def earlier() -> Mapping[str, PlanStep]:
        steps = [plan.step(key) for key in plan.ancestors(step.id)]
        return {**{before.alias: before for before in steps}, **{before.id: before for before in steps}}

    def locate(root: str) -> tuple[str, Template] | None:
        before = earlier().get(root) if root != FLOW_INPUT else None
        return (before.id, before.template) if before is not None else None

    return locate


def _named(step: PlanStep, locate: Locate) -> tuple[NamedOutput, ...]:
    if not step.parents:
        return ()
    named = dict.fromkeys(named_outputs(_references(step), locate))
    return tuple(named) or tuple(NamedOutput(parent, None) for parent in step.parents)


def refuse_unoffered(planned: PlannedFlow) -> None:
    """Raise `DocumentsNotInstalled` for the first step whose policy needs packages that are not installed."""
    for step in planned.steps.values():
        if step.document is not None:
            maker.require_installed(f"Step '{step.id}' requires output of type {step.document}; that")


def _inlets(plan: Plan, step: PlanStep) -> tuple[Inlet, ...]:
    main = step.template.main_field
    filled = {*step.policy.input_bindings}
    if step.policy.input_source is not InputSource.PREVIOUS_STEP and main is not None:
        filled.add(main.name)
    inlets: list[Inlet] = []
    for name in dict.fromkeys(edge.input for edge in step.inbound):
        template = step.template.field(name)
        if template is None:
            continue
        feeds = tuple(
            Feed(edge.source, edge.output, _output_type(plan.step(edge.source), edge.output))
            for edge in step.into(name)
        )
        set_already = step.node.params.get(name) not in (None, "", [], {}) or name in filled
        indispensable = template.required and not set_already
        inlets.append(Inlet(name, template.types, template.many, feeds, indispensable, name in filled))
    return tuple(inlets)


def _output_type(step: PlanStep, output: str) -> PortType:
    port = step.template.output(output)
    if port is None:
        raise LookupError(f"{step.id} has no output {output}")
    return port.type
