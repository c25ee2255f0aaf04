"""Looks ahead at a run: reads the flow and the tenant's variables, and nothing else happens.

Nothing is pinned, stored, asked or sent: no version is frozen, no model or server is connected to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.flows import service as flows
from headgate.features.flows import versions
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.readiness.check import check
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.readiness.models import outlook_of
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.summaries import Wanted
from headgate.features.models.outlook import ModelOutlook
from headgate.features.models.ports import KeySource
from headgate.features.runs.form import check_files, check_form, file_ids_in
from headgate.features.runs.ports import Components, Services
from headgate.features.runs.preview import path
from headgate.features.runs.preview.schemas import (
    DryHost,
    DryModel,
    DryReach,
    DryRunOut,
    DryRunStart,
    DrySecret,
    DryStep,
    DryTotals,
    Finding,
)
from headgate.features.runs.steps.planned import prepare_step
from headgate.features.runs.views.runs import class_view
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.classification import Classified, model_ref
from headgate.graph.issues import FlowInvalid, Issue
from headgate.graph.links import effective, link
from headgate.graph.model import Flow
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.sdk import Model


@dataclass(frozen=True, slots=True)
class DryRuns:
    """Dry runs on the parts of one installation."""

    database: Database
    services: Services
    rules: FlowRules
    keys_of: Callable[[str, str], KeySource]
    """Variables of a tenant's space."""

    async def of_flow(self, principal: Principal, flow_id: str, start: DryRunStart) -> DryRunOut:
        """Look ahead at a run of a stored flow, which the caller may run.

        Raises `FlowNotFound`, `VersionNotFound`, `PermissionMissing`.
        """
        async with self.database.reading() as session:
            space, flow, version = await self._content(session, principal, flow_id, start.version)
        at = within(principal, space)
        return await self.of(at, flow, start, flow_id=flow_id, version=version)

    async def of(
        self,
        principal: Principal,
        flow: Flow,
        start: DryRunStart,
        *,
        flow_id: str = "",
        version: int | None = None,
    ) -> DryRunOut:
        """Look ahead at a run of a flow that may be stored nowhere, in the space that the caller works in."""
        components = await self.services.components.for_flow(principal.tenant_id, flow)
        environment = await self.rules.environment(principal.tenant_id, principal.space_id)
        frozen = version is not None
        ready = await run_in_flow_thread(check, flow, components, environment, frozen=frozen)
        findings = [_finding(issue) for issue in ready.issues] + await self._input_findings(principal, flow, start)
        flow = flow if frozen else effective(link(flow, components, environment.defaults))
        plan = _plan(flow, components)
        classes = self.services.classes
        classified = await classes.classify(principal.tenant_id, flow) if classes is not None else None
        look = _Look(environment, start, classified)
        steps = [look.step(step) for step in plan.steps]
        prepared = {step.id: prepare_step(plan, step, components) for step in plan.steps}
        certain = path.certain_steps(prepared)
        for step in steps:
            step.runs = "certain" if step.step_id in certain else "possible"
        findings += look.findings
        return DryRunOut(
            ok=all(one.severity != "error" for one in findings),
            flow_id=flow_id,
            version=version,
            findings=findings,
            path=steps,
            reach=DryReach(hosts=look.hosts, secrets=look.secrets),
            totals=_totals(steps),
        )

    async def _content(
        self, session: AsyncSession, principal: Principal, flow_id: str, wanted: Wanted
    ) -> tuple[str, Flow, int | None]:
        row = await flows.get_flow(session, principal, flow_id, permission=Permission.RUNS_START)
        released = wanted == "published"
        if isinstance(wanted, int):
            found = await versions.get_version(session, principal, flow_id, wanted, permission=Permission.RUNS_START)
            released = found.release is not None
        if not released:
            principal.require_in(row.space_id, Permission.RUNS_TEST, FlowNotFound(flow_id))
        if wanted == "draft":
            return row.space_id, flows.definition_of(row), None
        number = row.published_version if wanted == "published" else wanted
        flow = await versions.version_as_it_runs(session, principal, flow_id, number, permission=Permission.RUNS_START)
        return row.space_id, flow, number

    async def _input_findings(self, principal: Principal, flow: Flow, start: DryRunStart) -> list[Finding]:
        """What is wrong with the input, where one is given."""
        try:
            answers = {} if start.form_data is None else check_form(flow.form, start.form_data)
            files = list(dict.fromkeys([*start.file_ids, *file_ids_in(flow.form, answers)]))
            if files:
                check_files(flow.form, answers, (await self.services.files.given(principal, files)).files)
        except HeadgateError as error:
            return [_error(error.code, error.detail, error.remedy)]
        return []


class _Look:
    """Goes along the steps and notes what each would use. What is wrong with that, the readiness check says."""

    def __init__(self, environment: Environment, start: DryRunStart, classified: Classified | None) -> None:
        self._environment = environment
        self._start = start
        self._classified = classified
        self.findings: list[Finding] = []
        self.hosts: list[DryHost] = []
        self.secrets: list[DrySecret] = []

    def step(self, step: PlanStep) -> DryStep:
        """One step of the path; `runs` is filled in once all are known."""
        models = [one for value in path.model_values(step) if (one := self._model(step, value)) is not None]
        self.hosts += path.hosts_of(step)
        known = self._environment.variables.has
        self.secrets += [DrySecret(step_id=step.id, name=name, known=known(name)) for name in path.secret_names(step)]
        found = self._classified
        return DryStep(
            step_id=step.id,
            order=step.order,
            type=step.node.type,
            label=step.node.label or step.id,
            runs="certain",
            inputs=path.inputs_of(step),
            models=models,
            tools=path.tools_of(step),
            classification=class_view(found.steps[step.id].output, found.scheme) if found is not None else None,
        )

    def _model(self, step: PlanStep, value: Any) -> DryModel | None:  # noqa: ANN401 - JSON, a typed key in it
        if model_ref(value) is None:
            return None
        try:
            model = Model.model_validate(value)
        except ValidationError:
            return None  # reported among the flow's faults
        outlook = outlook_of(model, self._environment) or ModelOutlook(model=str(model), usable=True)
        if outlook.host:
            self.hosts.append(DryHost(step_id=step.id, host=outlook.host, purpose="model"))
        if outlook.variable:
            self.secrets.append(DrySecret(step_id=step.id, name=outlook.variable, known=True))
        tokens = -(-path.known_characters(step, self._start.text) // path.CHARACTERS_A_TOKEN)
        info = outlook.info
        if info is not None and info.context_window is not None and tokens > info.context_window:
            message = f"Step '{step.id}' sends at least {tokens} tokens, and {model} reads {info.context_window}."
            self.findings.append(_error("prompt_too_long", message, "Shorten the prompt.", step.id))
        price = info.price_in if info is not None else None
        return DryModel(
            model=outlook.model,
            usable=outlook.usable,
            tokens_input_at_least=tokens,
            cost_usd_at_least=None if price is None else tokens * price / 1_000_000,
            price_in=price,
            price_out=info.price_out if info is not None else None,
        )


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


def _totals(steps: Sequence[DryStep]) -> DryTotals:
    models = [model for step in steps for model in step.models]
    costs = [model.cost_usd_at_least for model in models]
    known = [cost for cost in costs if cost is not None]
    return DryTotals(
        steps=len(steps),
        certain_steps=sum(step.runs == "certain" for step in steps),
        model_steps=sum(bool(step.models) for step in steps),
        tokens_input_at_least=sum(model.tokens_input_at_least for model in models),
        cost_usd_at_least=sum(known) if len(known) == len(costs) else None,
    )
