"""Dry runs: read the flow and the tenant's variables, without side effects.

No version is created, and no model or server is connected to.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.flows import history, versions
from headgate.features.flows import service as flows
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.readiness.check import check
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.readiness.models import outlook_of
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.summaries import Wanted
from headgate.features.models.outlook import ModelOutlook
from headgate.features.models.ports import KeySource
from headgate.features.runs.form import check_files, check_form, file_ids_in
from headgate.features.runs.ports.flows import Components
from headgate.features.runs.preview import path
from headgate.features.runs.preview.budgets import budgets_of, exceeded
from headgate.features.runs.preview.calls import Walk, calls_of, findings_of, reach_of, without_repeated
from headgate.features.runs.preview.effects import effect_of
from headgate.features.runs.preview.schemas import (
    ConnectionLimit,
    DryCall,
    DryHost,
    DryModel,
    DryRunOut,
    DryRunStart,
    DrySecret,
    DryStep,
    Finding,
)
from headgate.features.runs.preview.totals import totals_of
from headgate.features.runs.preview.waits import wait_of
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.planned import PlannedStep, prepare_step
from headgate.features.runs.views.runs import class_view
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, NotFound
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.classification import Classified, model_refs
from headgate.graph.connection_reference import connections_of
from headgate.graph.issues import FlowInvalid, Issue
from headgate.graph.links import effective, link
from headgate.graph.model import Flow
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.sdk import Model


@dataclass(frozen=True, slots=True)
class DryRuns:
    """Performs dry runs with the services of one installation."""

    database: Database
    services: Services
    rules: FlowRules
    keys_of: Callable[[str, str], KeySource]
    """Variables of a tenant's space."""

    async def of_flow(self, principal: Principal, flow_id: str, start: DryRunStart) -> DryRunOut:
        """Perform a dry run of a stored flow that the caller may run.

        Raises `FlowNotFound`, `VersionNotFound`, `PermissionMissing`.
        """
        return await self._of_flow(principal, flow_id, start, Walk())

    async def _of_flow(self, principal: Principal, flow_id: str, start: DryRunStart, walk: Walk) -> DryRunOut:
        async with self.database.reading() as session:
            space, flow, version = await self._content(session, principal, flow_id, start.version)
        at = within(principal, space)
        return await self.of(at, flow, start, flow_id=flow_id, version=version, walk=walk)

    async def of(
        self,
        principal: Principal,
        flow: Flow,
        start: DryRunStart,
        *,
        flow_id: str = "",
        version: int | None = None,
        walk: Walk | None = None,
    ) -> DryRunOut:
        """Perform a dry run of a flow that may not be stored, in the caller's space; `walk` leads to a called one."""
        components = await self.services.components.for_flow(principal.tenant_id, flow)
        environment = await self.rules.environment(principal.tenant_id, principal.space_id, flow=flow)
        frozen = version is not None
        ready = await run_in_flow_thread(check, flow, components, environment, frozen=frozen)
        findings = [_finding(issue) for issue in ready.issues] + await self._input_findings(principal, flow, start)
        flow = flow if frozen else effective(link(flow, components, environment.defaults_of(flow, components)))
        plan = _plan(flow, components)
        classes = self.services.classes
        classified = await classes.classify(principal.tenant_id, flow) if classes is not None else None
        look = _Look(environment, start, classified)
        steps = [look.step(step) for step in plan.steps]
        prepared = {step.id: prepare_step(plan, step, components, flow.settings) for step in plan.steps}
        certain = path.certain_steps(prepared)
        for step in steps:
            policy = prepared[step.step_id].step.policy
            step.runs = "certain" if step.step_id in certain else "possible" if policy.disabled == "no" else "never"
            step.concurrency = policy.concurrency
            step.on_error, step.disabled = policy.on_error, policy.disabled
            step.max_attempts = attempts_of(prepared[step.step_id])
            step.timeout_seconds = self._timeout(prepared[step.step_id])
        look.forget_disabled(steps)
        below = (walk or Walk()).into(flow_id, flow.name)
        for step, planned in zip(steps, plan.steps, strict=True):
            await self._add_calls(principal, step, calls_of(planned, start.text), below)
            findings += findings_of(step)
        totals = totals_of(steps)
        budgets = await budgets_of(self.services.budgets, flow.settings, flow_id, tenant_id=principal.tenant_id)
        findings += look.findings + exceeded(budgets, totals)
        return DryRunOut(
            ok=all(finding.severity != "error" for finding in findings),
            flow_id=flow_id,
            version=version,
            findings=findings,
            path=[without_repeated(step) for step in steps],
            reach=reach_of(look.hosts, look.secrets, steps),
            totals=totals,
            budgets=budgets,
            max_concurrent_runs=flow.settings.max_concurrent_runs,
            runs_ahead=sum(await self.services.slots.count_flow(principal.tenant_id, flow_id)),
        )

    async def _add_calls(self, principal: Principal, step: DryStep, calls: Iterable[DryCall], walk: Walk) -> None:
        if step.runs != "never":
            step.calls = [await self._call(principal, call, walk) for call in calls]

    async def _call(self, principal: Principal, call: DryCall, walk: Walk) -> DryCall:
        """Return a flow that a step runs with its dry run, which the caller's permissions limit."""
        problem = walk.problem(call)
        if problem:
            trail = [*(name for _, name in walk.trail), call.name] if problem == "cycle" else []
            return call.model_copy(update={"problem": problem, "trail": trail})
        preview = walk.previews.get(walk.key(call))
        before = preview is not None
        if preview is None:
            try:
                preview = await self._of_flow(principal, call.flow_id, DryRunStart(version=call.version), walk)
            except (NotFound, PermissionMissing):
                return call.model_copy(update={"problem": "unavailable"})
            walk.previews[walk.key(call)] = preview
        return call.model_copy(update={"preview": preview, "totals": preview.totals, "shown_before": before})

    def _timeout(self, step: PlannedStep) -> float | None:
        limit = step.timeout_seconds
        return None if limit is None else min(limit, self.services.engine.longest_step_seconds)

    async def _content(
        self, session: AsyncSession, principal: Principal, flow_id: str, version: Wanted
    ) -> tuple[str, Flow, int | None]:
        row = await flows.get_flow(session, principal, flow_id, permission=Permission.RUNS_START)
        released = version == "published"
        if isinstance(version, int):
            flow_version = await history.get_version(
                session, principal, flow_id, version, permission=Permission.RUNS_START
            )
            released = flow_version.release is not None
        if not released:
            principal.require_in(row.space_id, Permission.RUNS_TEST, FlowNotFound(flow_id))
        if version == "draft":
            return row.space_id, flows.definition_of(row), None
        number = row.published_version if version == "published" else version
        flow = await versions.version_as_it_runs(session, principal, flow_id, number, permission=Permission.RUNS_START)
        return row.space_id, flow, number

    async def _input_findings(self, principal: Principal, flow: Flow, start: DryRunStart) -> list[Finding]:
        """Return the problems of the input, if there is one."""
        try:
            answers = {} if start.form_data is None else check_form(flow.form, start.form_data)
            files = list(dict.fromkeys([*start.file_ids, *file_ids_in(flow.form, answers)]))
            if files:
                check_files(flow.form, answers, (await self.services.files.given(principal, files)).files)
        except HeadgateError as error:
            return [_error(error.code, error.detail, error.remedy)]
        return []


class _Look:
    """Visits the steps and collects what each would use. Problems are left to the readiness check."""

    def __init__(self, environment: Environment, start: DryRunStart, classified: Classified | None) -> None:
        self._environment = environment
        self._start = start
        self._classified = classified
        self.findings: list[Finding] = []
        self.hosts: list[DryHost] = []
        self.secrets: list[DrySecret] = []

    def step(self, step: PlanStep) -> DryStep:
        """Describe one step of the path; `runs` is set once all steps are known."""
        models = [model for value in path.model_values(step) for model in self._models(step, value)]
        self.hosts += path.hosts_of(step)
        has_value = self._environment.variables.has
        self.secrets += [
            DrySecret(step_id=step.id, name=name, known=has_value(name)) for name in path.secret_names(step)
        ]
        classified, effect = self._classified, effect_of(step)
        return DryStep(
            step_id=step.id,
            order=step.order,
            type=step.node.type,
            label=step.node.label or step.id,
            runs="certain",
            inputs=path.inputs_of(step),
            models=models,
            tools=path.tools_of(step),
            classification=class_view(classified.steps[step.id].output, classified.scheme)
            if classified is not None
            else None,
            waits_for=wait_of(step),
            connection_limits=self._connection_limits(step),
            effect=str(effect),
            effect_pattern=effect.pattern,
            effect_values=dict(effect.values),
        )

    def _connection_limits(self, step: PlanStep) -> list[ConnectionLimit]:
        """Return the connections of the step and its tools that few steps may use at the same time."""
        parts = [
            (step.node, step.template),
            *((attachment.node, attachment.template) for attachment in step.attachments),
        ]
        names = {reference.name for node, template in parts for _, reference in connections_of(node.params, template)}
        limits = ((name, known) for name in sorted(names) for known in self._environment.connections.get(name, ()))
        return [
            ConnectionLimit(name=name, max=known.max_concurrent)
            for name, known in limits
            if known.max_concurrent is not None
        ]

    def forget_disabled(self, steps: Sequence[DryStep]) -> None:
        """Remove what disabled steps would do: one that passes its input through fetches that alone."""
        disabled = {step.step_id: step.disabled for step in steps if step.disabled != "no"}
        for step in steps:
            if step.step_id in disabled:
                step.models, step.tools, step.waits_for, step.connection_limits = [], [], None, []
                step.effect = step.effect_pattern = ""
                step.effect_values = {}
        fetching = {step_id for step_id, how in disabled.items() if how == "pass_through"}
        self.hosts = [
            host
            for host in self.hosts
            if host.step_id not in disabled or (host.step_id in fetching and host.purpose == "input")
        ]
        self.secrets = [
            secret for secret in self.secrets if secret.step_id not in disabled or secret.step_id in fetching
        ]

    def _models(self, step: PlanStep, value: Any) -> list[DryModel]:  # noqa: ANN401 - JSON, a typed key in it
        """The model that a value names, and its fallback models."""
        if None in model_refs(value):
            return []
        try:
            chain = Model.model_validate(value).chain
        except ValidationError:
            return []  # reported among the flow's faults
        return [self._model(step, model, fallback=place > 0) for place, model in enumerate(chain)]

    def _model(self, step: PlanStep, model: Model, *, fallback: bool) -> DryModel:
        model_outlook = outlook_of(model, self._environment) or ModelOutlook(model=str(model), usable=True)
        if model_outlook.host:
            self.hosts.append(DryHost(step_id=step.id, host=model_outlook.host, purpose="model"))
        if model_outlook.variable:
            self.secrets.append(DrySecret(step_id=step.id, name=model_outlook.variable, known=True))
        tokens = -(-path.known_characters(step, self._start.text) // path.CHARACTERS_A_TOKEN)
        info = model_outlook.info
        if info is not None and info.context_window is not None and tokens > info.context_window:
            message = f"Step '{step.id}' sends at least {tokens} tokens, but {model} accepts {info.context_window}."
            self.findings.append(_error("prompt_too_long", message, "Shorten the prompt.", step.id))
        price = info.price_in if info is not None else None
        return DryModel(
            model=model_outlook.model,
            fallback=fallback,
            usable=model_outlook.usable,
            tokens_input_at_least=tokens,
            cost_usd_at_least=None if price is None else tokens * price / 1_000_000,
            price_in=price,
            price_out=info.price_out if info is not None else None,
        )


def attempts_of(step: PlannedStep) -> int:
    """Return how many attempts the step has."""
    return step.retry.max_attempts if step.retry is not None else 1


def _plan(flow: Flow, components: Components) -> Plan:
    try:
        return compile_plan(flow, components)
    except FlowInvalid:
        return Plan(())


def _finding(issue: Issue) -> Finding:
    return Finding(
        severity=issue.severity,
        code=issue.code.value,
        message=str(issue),
        remedy=issue.remedy,
        node=issue.node,
        about=issue.about,
    )


def _error(code: str, message: str, remedy: str = "", node: str = "") -> Finding:
    return Finding(severity="error", code=code, message=message, remedy=remedy, node=node)
