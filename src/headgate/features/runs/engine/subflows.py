"""Starts flows for steps, and reads what came of them."""

from typing import Protocol

from headgate.features.runs import form, start_check
from headgate.features.runs.engine.backend import RunRequest
from headgate.features.runs.errors import SubflowRefused
from headgate.features.runs.ports import Services
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.flows import Prepared
from headgate.features.runs.steps.planned import Plans, refuse_unoffered
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Parent, Resumed, RunKey
from headgate.foundation.ids import new_id
from headgate.sdk import RunInput
from headgate.sdk.flows import FlowInput, FlowTarget


class Engine(Protocol):
    """What is needed of the engine of this process."""

    @property
    def plans(self) -> Plans:
        """Plans of versions."""
        ...

    @property
    def services(self) -> Services:
        """Services that steps may use."""
        ...

    @property
    def store(self) -> RunStore:
        """The rows of runs."""
        ...

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run and schedule it."""
        ...

    async def resume(self, key: RunKey) -> Resumed | None:
        """Resume a failed run."""
        ...

    async def wake_run(self, run_id: str) -> None:
        """Wake the steps of a run that are due, and continue it."""
        ...


class Subflows:
    """Runs of steps, in one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def store(self) -> RunStore:
        """The rows of runs."""
        return self._engine.store

    async def prepare(self, run: ActiveRun, target: FlowTarget) -> Prepared:
        """Check that a step of a run may start a flow now.

        Raises `SubflowRefused`, `FlowInvalid` when it is not ready, `NotFound`, `QuotaExceeded`.
        """
        services = self._engine.services
        key = RunKey("", run.key.tenant_id, target.flow_id, target.version)
        space_id = await services.spaces.of(key.tenant_id, key.flow_id)
        own_space = await services.spaces.of(run.key.tenant_id, run.key.flow_id)
        if not await services.starters.may_start(
            key.tenant_id, run.user_id, key.flow_id, without_user=space_id == own_space
        ):
            raise SubflowRefused(
                f"The flow '{target.name or target.flow_id}' was deleted, or the user who started this run may not run"
                " it.",
                remedy="Ask for the right to run flows in its space, or choose another flow.",
            )
        planned = await self._engine.plans.of(key)
        refuse_unoffered(planned)
        await start_check.require_ready(services, key, planned, None)
        quotas = services.quotas
        bounds = () if quotas is None else await quotas.of_start(key.tenant_id, space_id, run.visitor)
        return Prepared(key, planned, bounds)

    async def start(
        self, run: ActiveRun, parent: Parent, prepared: Prepared, inputs: FlowInput, outside: tuple[str, ...]
    ) -> None:
        """Start a run of a step. Raises `InputInvalid`, `ParentGone`, `QuotaExceeded`, `Unavailable`."""
        answers = form.check_form(prepared.planned.form, inputs.answers)
        form.check_files(prepared.planned.form, answers, inputs.files)
        run_input = RunInput(text=inputs.text, form_data=answers, files=inputs.files, outside=outside)
        start_check.require_files(prepared.planned, run_input, None)
        key = RunKey(new_id(), prepared.key.tenant_id, prepared.key.flow_id, prepared.key.version)
        await self._engine.start(
            RunRequest(
                key=key,
                input=run_input,
                user_id=run.user_id,
                visitor=run.visitor,
                bounds=prepared.bounds,
                parent=parent,
            )
        )

    async def resume(self, key: RunKey) -> bool:
        """Resume a failed run. Returns False when it cannot be resumed."""
        resumed = await self._engine.resume(key)
        return resumed is not None and resumed.changed

    async def wake(self, run_id: str) -> None:
        """Wake what is due in a run now, before the next look for due steps."""
        await self._engine.wake_run(run_id)
