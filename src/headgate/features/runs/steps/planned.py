"""Compiled plans, with everything about a step that does not change from run to run worked out once."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from headgate.features.runs.ports import Components, Definitions
from headgate.features.runs.transitions import RunKey, Seed
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.lazy import lazy_module
from headgate.graph.execution_hash import step_logic_hash
from headgate.graph.interpolate import references_in
from headgate.graph.mentions import mentions
from headgate.graph.model import Flow, FormField, InputSource, StepPolicy
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import typed_params
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


@dataclass(frozen=True, slots=True)
class Feed:
    """One data edge as the step at its end sees it."""

    source: str
    output: str
    type: PortType


@dataclass(frozen=True, slots=True)
class Inlet:
    """A field that edges lead to."""

    field: str
    types: tuple[PortType, ...]
    many: bool
    feeds: tuple[Feed, ...]
    indispensable: bool
    """Whether the step makes no sense when nothing arrives here: required, and no value set."""
    overridden: bool
    """Whether the step's policy fills the field, whatever the edges bring."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a plan, ready to be carried out."""

    id: str
    """The node id."""
    step: PlanStep
    component: type[Component]
    inlets: tuple[Inlet, ...]
    extra_fields: frozenset[str]
    outputs: tuple[tuple[str, PortType], ...]
    main_output: str | None
    """The output that `{{step.output}}` stands for."""
    document: Format | None
    """What the step's main output is made into besides."""
    params: Mapping[str, Any]
    """The node's saved params, the secrets that they refer to as `SecretReference`."""
    secret_fields: frozenset[str]
    """Fields that may carry a secret."""
    raw_fields: frozenset[str]
    """Fields whose `{{...}}` are not ours to resolve."""
    refers: bool
    """Whether any param holds a reference."""
    plain: bool
    """Whether its policy asks for nothing."""
    attached: bool
    reads_input: bool
    """Whether its params, its policy or what is attached to it refer to what the run was started with."""
    logic: str
    """Hash of what the step does, whatever it is given."""
    told: Mapping[str, JsonValue]
    """What every event of the step says about it."""

    @property
    def label(self) -> str:
        """What people call it."""
        return self.step.node.label or self.id


@dataclass(frozen=True)
class PlannedFlow:
    """A version, ready to run."""

    name: str
    plan: Plan
    steps: Mapping[str, PlannedStep]
    seeds: tuple[Seed, ...]
    roots: tuple[str, ...]
    flow: Flow
    form: tuple[FormField, ...]
    components: Components
    """What its steps and what is attached to them are made of."""

    @cached_property
    def readiness(self) -> "Readiness":
        """What the version itself says of whether it can run, and what it needs from outside."""
        return check.check(self.flow, self.components, frozen=True)


class Plans:
    """The plans of the versions used last; a version never changes, so neither does its plan."""

    def __init__(self, definitions: Definitions, components: Components, *, most: int = MOST_PLANS) -> None:
        self._definitions = definitions
        self._components = components
        self._most = most
        self._kept: OrderedDict[tuple[str, int], PlannedFlow] = OrderedDict()

    async def of(self, key: RunKey) -> PlannedFlow:
        """The plan of a run's version.

        Raises `FlowInvalid` when its components no longer fit together, `UnsafeCode`.
        """
        place = (key.flow_id, key.version)
        found = self._kept.get(place)
        if found is not None:
            self._kept.move_to_end(place)
            return found
        flow = await self._definitions(key)
        components = await self._components.for_flow(key.tenant_id, flow)
        await run_in_flow_thread(gate.require_checked, flow, components)  # reading much code takes a while
        plan = compile_plan(flow, components)
        found = PlannedFlow(
            name=flow.name,
            plan=plan,
            steps={step.id: prepare_step(plan, step, components) for step in plan.steps},
            seeds=tuple(Seed(step.id, step.order, len(step.parents)) for step in plan.steps),
            roots=tuple(step.id for step in plan.roots),
            flow=flow,
            form=flow.form,
            components=components,
        )
        self._kept[place] = found
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return found


def prepare_step(plan: Plan, step: PlanStep, components: Components) -> PlannedStep:
    """Work out what never changes about a step. Raises `NotFound` for an unknown component."""
    component = components.component(step.node.type)
    types = {output.name: output.type for output in step.template.outputs}
    raw = frozenset(field.name for field in step.template.fields if not field.interpolate)
    node, policy = step.node, step.policy
    return PlannedStep(
        id=step.id,
        step=step,
        component=component,
        inlets=_inlets(plan, step),
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
        plain=policy == _PLAIN,
        attached=bool(step.attachments),
        reads_input=_reads_input(step),
        logic=step_logic_hash(step),
        told={"step_id": step.id, "order": step.order, "type": node.type, "label": node.label or step.id},
    )


def _reads_input(step: PlanStep) -> bool:
    if step.policy.input_source is InputSource.FLOW_INPUT:
        return True
    nodes = [(step.node, step.template)]
    waiting = list(step.attachments)
    while waiting:
        one = waiting.pop()
        nodes.append((one.node, one.template))
        waiting.extend(one.attachments)
    return any(mention.reference.root == FLOW_INPUT for node, template in nodes for mention in mentions(node, template))


def refuse_unoffered(planned: PlannedFlow) -> None:
    """Raise `DocumentsNotInstalled` for the first step whose policy needs packages that are not installed."""
    for step in planned.steps.values():
        if step.document is not None:
            maker.require_installed(f"Step '{step.id}' wants its output as {step.document}; that")


def _inlets(plan: Plan, step: PlanStep) -> tuple[Inlet, ...]:
    main = step.template.main_field
    filled = {*step.policy.input_bindings}
    if step.policy.input_source is not InputSource.PREVIOUS_STEP and main is not None:
        filled.add(main.name)
    found: list[Inlet] = []
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
        found.append(Inlet(name, template.types, template.many, feeds, indispensable, name in filled))
    return tuple(found)


def _output_type(step: PlanStep, output: str) -> PortType:
    found = step.template.output(output)
    if found is None:
        raise LookupError(f"{step.id} has no output {output}")
    return found.type
