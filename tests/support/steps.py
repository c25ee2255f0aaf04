"""Carries out one step of a flow in memory, after steps whose outputs are given: no database, no engine around it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from headgate.features.catalog.registry import Registry
from headgate.features.runs.events import RunEvents
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.executor import Executed, StepExecutor
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.transitions import RunKey
from headgate.foundation.events import EventBus
from headgate.foundation.settings import EngineSettings, LimitSettings
from headgate.graph.model import Flow
from headgate.sdk import Component, RunInput
from headgate.sdk.fakes import FakeHttp, InProcess
from tests.support.engine import (
    COMPONENTS,
    DictSecrets,
    MemoryFiles,
    NoDeliveries,
    NoModels,
    NoServers,
    NoWorkspaces,
    OneRunner,
    OneSpace,
    PlainSealer,
)
from tests.support.services import FixedServices

KEY = RunKey("00000000-0000-7000-8000-00000000000a", "tenant", "flow", 1)


@dataclass
class StepBench:
    """Fakes that a step reaches, kept to look at afterwards."""

    http: FakeHttp
    files: MemoryFiles
    secrets: DictSecrets
    recorder: Recorder
    services: FixedServices
    cancelled: bool = False
    flows: Any = None
    """What starts the runs of other flows."""

    async def execute(
        self,
        flow: Flow,
        step: str,
        results: Mapping[str, Mapping[str, JsonValue]] | None = None,
        given: RunInput | None = None,
    ) -> Executed:
        """Run `step` of `flow`; `results` are the outputs of the steps before it."""

        async def definition(key: RunKey) -> Flow:
            return flow

        planned = await Plans(definition, self.services.components).of(KEY)
        run = ActiveRun(
            key=KEY,
            planned=planned,
            input=given or RunInput(),
            started_at=0,
            ledger=Ledger(planned),
            events=RunEvents(self.services.bus, KEY.run_id),
        )
        run.ledger.results.update(results or {})

        async def is_cancelled() -> bool:
            return self.cancelled

        planned_step, events = planned.steps[step], run.events.step(step, 1)
        executor = StepExecutor(self.services, self.flows)
        return await executor.execute(run, planned_step, self.recorder, is_cancelled, events=events)


def make_bench(components: Iterable[type[Component]] = COMPONENTS, **services: Any) -> StepBench:
    """A fresh bench; `services` replace parts of its services."""
    http, files, secrets = FakeHttp(), MemoryFiles(), DictSecrets()

    async def none(key: RunKey) -> Flow:
        raise NotImplementedError

    made = FixedServices(
        components=Registry(components),
        definitions=none,
        chat_models=NoModels(),
        http=http,
        files=files,
        secrets=secrets,
        code=OneRunner(),
        isolated=OneRunner(InProcess()),
        mcp=NoServers(),
        workspaces=NoWorkspaces(),
        deliveries=NoDeliveries(),
        bus=EventBus(),
        limits=LimitSettings(),
        engine=EngineSettings(),
        spaces=OneSpace(),
        sealer=PlainSealer(),
    )
    return StepBench(http, files, secrets, Recorder(), replace(made, **services))
