"""Starts flows for steps, and reads what came of them."""

from typing import Protocol

from headgate.features.runs import form, start_check
from headgate.features.runs.engine.backend import RunRequest
from headgate.features.runs.errors import ParentPaused, SubflowRefused
from headgate.features.runs.states import RunStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.flows import Prepared
from headgate.features.runs.steps.planned import Plans, refuse_unoffered
from headgate.features.runs.steps.waits import Suspended
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Parent, Resumed, RunKey, clock
from headgate.features.runs.waiting import Paused, WaitReason
from headgate.foundation.ids import new_id
from headgate.sdk import RunInput
from headgate.sdk.flows import FlowInput, FlowTarget


class Engine(Protocol):
    """What is needed of the engine of this process."""

    @property
    def plans(self) -> Plans:
        """Plans of versions."""

    @property
    def services(self) -> Services:
        """Services that steps may use."""

    @property
    def store(self) -> RunStore:
        """The rows of runs."""

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run and schedule it."""

    async def resume(self, key: RunKey) -> Resumed | None:
        """Resume a failed run."""

    async def pause(self, key: RunKey) -> Paused | None:
        """Pause a run."""

    async def wake_run(self, run_id: str) -> None:
        """Wake the steps of a run that are due, and continue it."""


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
        """Start a run of a step. Raises `InputInvalid`, `ParentGone`, `QuotaExceeded`, `Unavailable`.

        Raises `Suspended` where the run of the step is paused: the step starts it when that continues.
        """
        answers = form.check_form(prepared.planned.form, inputs.answers)
        form.check_files(prepared.planned.form, answers, inputs.files)
        run_input = RunInput(text=inputs.text, form_data=answers, files=inputs.files, outside=outside)
        start_check.require_files(prepared.planned, run_input, None)
        key = RunKey(new_id(), prepared.key.tenant_id, prepared.key.flow_id, prepared.key.version)
        request = RunRequest(
            key=key,
            input=run_input,
            user_id=run.user_id,
            visitor=run.visitor,
            bounds=prepared.bounds,
            parent=parent,
            inherited=run.terms,
        )
        try:
            await self._engine.start(request)
        except ParentPaused:
            raise Suspended(WaitReason.RUN, clock()) from None

    async def resume(self, run: ActiveRun, key: RunKey) -> bool:
        """Resume a failed run of a step; paused where the run of the step is. Returns False when it cannot be."""
        resumed = await self._engine.resume(key)
        if resumed is None or not resumed.changed:
            return False
        # A pause after this sees the resumed run, and pauses it too.
        if await self._engine.store.status(run.key.run_id) is RunStatus.PAUSED:
            await self._engine.pause(key)
        return True

    async def wake(self, run_id: str) -> None:
        """Wake what is due in a run now, before the next look for due steps."""
        await self._engine.wake_run(run_id)
