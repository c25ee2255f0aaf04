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
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.summaries import Wanted
from headgate.features.models.local.models import LocalModels
from headgate.features.models.outlook import ModelOutlook, look_at
from headgate.features.models.ports import KeySource
from headgate.features.runs.form import check_form, file_ids_in
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
from headgate.graph.classification import Classified, model_ref
from headgate.graph.issues import FlowInvalid, Issue
from headgate.graph.model import Flow, InputType
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.graph.validate import check_runnable
from headgate.sdk import Model

_BY_INPUT = {InputType.IMAGE: "vision", InputType.AUDIO: "audio"}


@dataclass(frozen=True, slots=True)
class DryRuns:
    """Dry runs on the parts of one installation."""

    database: Database
    services: Services
    rules: FlowRules
    keys_of: Callable[[str, str], KeySource]
    """Variables of a tenant's space."""
    local: LocalModels

    async def of_flow(self, principal: Principal, flow_id: str, start: DryRunStart) -> DryRunOut:
        """Look ahead at a run of a stored flow, which the caller may run.

        Raises `FlowNotFound`, `VersionNotFound`, `PermissionMissing`.
        """
        async with self.database.reading() as session:
            space, flow, version, issues = await self._content(session, principal, flow_id, start.version)
        at = within(principal, space)
        return await self.of(at, flow, start, flow_id=flow_id, version=version, issues=issues)

    async def of(
        self,
        principal: Principal,
        flow: Flow,
        start: DryRunStart,
        *,
        flow_id: str = "",
        version: int | None = None,
        issues: Sequence[Issue] | None = None,
    ) -> DryRunOut:
        """Look ahead at a run of a flow that may be stored nowhere, in the space that the caller works in."""
        components = await self.services.components.for_flow(principal.tenant_id, flow)
        found = list(check_runnable(flow, components) if issues is None else issues)
        found += await self.rules.more_issues(principal.tenant_id, flow)
        findings = [_finding(issue) for issue in found] + await self._input_findings(principal, flow, start)
        plan = _plan(flow, components)
        classes = self.services.classes
        classified = await classes.classify(principal.tenant_id, flow) if classes is not None else None
        look = _Look(self, principal, start, classified)
        steps = [await look.step(step) for step in plan.steps]
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
    ) -> tuple[str, Flow, int | None, list[Issue] | None]:
        row = await flows.get_flow(session, principal, flow_id, permission=Permission.RUNS_START)
        released = wanted == "published"
        if isinstance(wanted, int):
            found = await versions.get_version(session, principal, flow_id, wanted, permission=Permission.RUNS_START)
            released = found.release is not None
        if not released:
            principal.require_in(row.space_id, Permission.RUNS_TEST, FlowNotFound(flow_id))
        if wanted == "draft":
            flow, issues = await versions.as_it_would_run(session, self.rules.catalog, row)
            return row.space_id, flow, None, issues
        number = row.published_version if wanted == "published" else wanted
        flow = await versions.version_as_it_runs(session, principal, flow_id, number, permission=Permission.RUNS_START)
        return row.space_id, flow, number, None

    async def _input_findings(self, principal: Principal, flow: Flow, start: DryRunStart) -> list[Finding]:
        """What is wrong with the input, where one is given."""
        try:
            answers = {} if start.form_data is None else check_form(flow.form, start.form_data)
            files = list(dict.fromkeys([*start.file_ids, *file_ids_in(flow.form, answers)]))
            if files:
                await self.services.files.given(principal, files)
        except HeadgateError as error:
            return [_error(error.code, error.detail, error.remedy)]
        return []


class _Look:
    """Goes along the steps and notes what each would need."""

    def __init__(self, runs: DryRuns, principal: Principal, start: DryRunStart, classified: Classified | None) -> None:
        self._runs = runs
        self._keys = runs.keys_of(principal.tenant_id, principal.space_id)
        self._start = start
        self._classified = classified
        self._outlooks: dict[str, ModelOutlook] = {}
        self.findings: list[Finding] = []
        self.hosts: list[DryHost] = []
        self.secrets: list[DrySecret] = []

    async def step(self, step: PlanStep) -> DryStep:
        """One step of the path; `runs` is filled in once all are known."""
        models = [one for value in path.model_values(step) if (one := await self._model(step, value)) is not None]
        self.hosts += path.hosts_of(step)
        await self._secrets(step)
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

    async def _model(self, step: PlanStep, value: Any) -> DryModel | None:  # noqa: ANN401 - JSON, a typed key in it
        if model_ref(value) is None:
            self._warn(step, "model_unknown", f"Step '{step.id}' learns its model only when it runs.")
            return None
        try:
            model = Model.model_validate(value)
        except ValidationError:
            return None  # told among the flow's faults
        key = model.model_dump_json()
        if key not in self._outlooks:
            self._outlooks[key] = await look_at(model, self._keys, self._runs.local)
        outlook = self._outlooks[key]
        if not outlook.usable:
            message = f"Step '{step.id}' asks {outlook.model}, which cannot be used: {outlook.problem}"
            self.findings.append(_error("model_not_usable", message, outlook.remedy, step.id))
        elif outlook.host:
            self.hosts.append(DryHost(step_id=step.id, host=outlook.host, purpose="model"))
        if outlook.variable:
            self.secrets.append(DrySecret(step_id=step.id, name=outlook.variable, known=True))
        tokens = -(-path.known_characters(step, self._start.text) // path.CHARACTERS_A_TOKEN)
        self._capabilities(step, outlook, tokens)
        price = outlook.info.price_in if outlook.info is not None else None
        return DryModel(
            model=outlook.model,
            usable=outlook.usable,
            tokens_input_at_least=tokens,
            cost_usd_at_least=None if price is None else tokens * price / 1_000_000,
            price_in=price,
            price_out=outlook.info.price_out if outlook.info is not None else None,
        )

    def _capabilities(self, step: PlanStep, outlook: ModelOutlook, tokens: int) -> None:
        """What the step asks of the model that the model cannot do, or is not known to."""
        info = outlook.info
        if info is None:
            return
        wanted = _BY_INPUT.get(step.policy.input_type)
        lacking = []
        if wanted is not None and not getattr(info, wanted):
            lacking.append(f"takes {step.policy.input_type.value} input")
        if path.tools_of(step) and info.tools == "none":
            lacking.append("calls tools")
        for what in lacking:
            message = f"Step '{step.id}' {what}, and {outlook.model} does not."
            if info.known:
                self.findings.append(_error("model_cannot", message, "Choose a model that does.", step.id))
            else:
                self._warn(step, "model_cannot", message.replace("does not", "is not known to"))
        if info.context_window is not None and tokens > info.context_window:
            message = (
                f"Step '{step.id}' sends at least {tokens} tokens, and {outlook.model} reads {info.context_window}."
            )
            self.findings.append(_error("prompt_too_long", message, "Shorten the prompt.", step.id))

    async def _secrets(self, step: PlanStep) -> None:
        """The secrets that a step refers to, and which of them do not exist."""
        for name in path.secret_names(step):
            known = await self._keys.key(name) is not None
            self.secrets.append(DrySecret(step_id=step.id, name=name, known=known))
            if not known:
                message = f"Step '{step.id}' uses the variable {name}, which is not set."
                remedy = f"Set it: headgate variables set {name}"
                self.findings.append(_error("variable_not_found", message, remedy, step.id))

    def _warn(self, step: PlanStep, code: str, message: str) -> None:
        self.findings.append(Finding(severity="warning", code=code, message=message, node=step.id))


def _plan(flow: Flow, components: Components) -> Plan:
    try:
        return compile_plan(flow, components)
    except FlowInvalid:
        return Plan(())


def _finding(issue: Issue) -> Finding:
    return _error(issue.code.value, str(issue), issue.remedy, issue.node)


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
