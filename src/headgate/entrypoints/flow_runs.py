"""Runs a flow to its end for whoever waits for it: the assistant's tool and the command line."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue

from headgate.agents.assistant.desk import RunEvent
from headgate.features.accounts.principal import Principal
from headgate.features.catalog.registry import Registry
from headgate.features.files import service as files
from headgate.features.files.run_files import as_value
from headgate.features.flows import versions
from headgate.features.flows.schemas import Wanted
from headgate.features.runs.backend import RunRequest
from headgate.features.runs.embedded import EmbeddedBackend
from headgate.features.runs.events import topic_of
from headgate.features.runs.outcome import Outcome, read_outcome
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.events import EventBus
from headgate.foundation.ids import new_id
from headgate.sdk import File, RunInput
from headgate.toolkit import RunOutcome

SHOWN_CHARACTERS = 4_000
"""Of each output in an outcome; the whole is in the run's evidence."""


@dataclass(frozen=True, slots=True)
class FlowRuns:
    """Starts runs on the engine of this process and reads back what they came to."""

    database: Database
    registry: Registry
    engine: EmbeddedBackend
    bus: EventBus

    async def run_draft(
        self,
        principal: Principal,
        flow_id: str,
        *,
        text: str,
        form: Mapping[str, JsonValue],
        file_ids: tuple[str, ...],
        on_event: RunEvent,
        wanted: Wanted = "draft",
    ) -> RunOutcome:
        """Pin the draft (or the version wanted), run it, and read back what it came to.

        When the caller is cancelled, so is the run.
        """
        pinned = await versions.pin_version(self.database, principal, self.registry, flow_id, wanted=wanted)
        key = RunKey(run_id=new_id(), tenant_id=principal.tenant_id, flow_id=pinned.flow_id, version=pinned.version)
        given = RunInput(text=text, form_data=dict(form), files=await self._files(principal, file_ids))
        watching = asyncio.create_task(self._watch(key.run_id, on_event))
        try:
            await self.engine.start(RunRequest(key=key, input=given, user_id=principal.user_id))
            await self.engine.wait(key.run_id)
            await asyncio.wait([watching], timeout=1.0)
        except asyncio.CancelledError:
            await asyncio.shield(self.engine.cancel(key.run_id, key.tenant_id))
            raise
        finally:
            watching.cancel()
        return await self._outcome(key)

    async def _watch(self, run_id: str, on_event: RunEvent) -> None:
        async for event in self.bus.subscribe(topic_of(run_id)):
            on_event(run_id, event.kind, event.data)

    async def _files(self, principal: Principal, file_ids: tuple[str, ...]) -> tuple[File, ...]:
        if not file_ids:
            return ()
        async with self.database.reading() as session:
            rows = await files.get_files(session, tenant_id=principal.tenant_id, file_ids=file_ids)
        return tuple(as_value(row) for row in rows)

    async def _outcome(self, key: RunKey) -> RunOutcome:
        planned = await self.engine.plans.of(key)
        last = {step.id for step in planned.plan.leaves}
        async with self.database.reading() as session:
            found = await read_outcome(session, key.run_id, tenant_id=key.tenant_id, last_steps=last)
            made = await files.get_files(session, tenant_id=key.tenant_id, file_ids=found.file_ids)
        return RunOutcome(
            run_id=found.run_id,
            status=found.status,
            outputs=_shown(found),
            files=[cast("dict[str, JsonValue]", as_value(row).model_dump(mode="json")) for row in made],
            error=found.error,
            duration_ms=found.duration_ms,
            input_tokens=found.input_tokens,
            output_tokens=found.output_tokens,
        )


def _shown(outcome: Outcome) -> dict[str, JsonValue]:
    return {step: _cut(payload) for step, payload in outcome.last_steps.items()}


def _cut(payload: dict[str, Any]) -> JsonValue:
    text = payload.get("text") or ""
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " ..."
