"""Runs a flow to its end for a waiting caller: the assistant's tool and the command line."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from pydantic import JsonValue

from headgate.features.access.principal import Principal
from headgate.features.files import service as files
from headgate.features.files.run_files import as_value
from headgate.features.flows.summaries import Wanted
from headgate.features.runs import service
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.once import start_once
from headgate.features.runs.schemas import RunOut, RunStart
from headgate.features.runs.views.client_waits import with_waits
from headgate.features.runs.views.stream import RunStream
from headgate.features.runs.waiting import RunWait
from headgate.foundation.checked import checked
from headgate.foundation.database import Database, moment
from headgate.graph.model import Budget
from headgate.sdk.outside import Marks
from headgate.toolkit.ports import RunEvent, RunOutcome

Look = Callable[[], Awaitable[RunWait | None]]
"""Returns what the run waits for now."""


@dataclass(frozen=True, slots=True)
class FlowRuns:
    """Starts runs on the engine of this process and returns their outcomes."""

    database: Database
    engine: ExecutionBackend

    async def run_draft(
        self,
        principal: Principal,
        flow_id: str,
        *,
        text: str,
        form: Mapping[str, JsonValue],
        file_ids: tuple[str, ...],
        on_event: RunEvent,
        version: Wanted = "draft",
        idempotency_key: str | None = None,
        outside: Marks = (),
        deadline_seconds: float | None = None,
        budget: Budget | None = None,
        until_waiting: bool = False,
        longest_wait_seconds: float | None = None,
        priority: int | None = None,
        stop_before: tuple[str, ...] = (),
        step_through: bool = False,
    ) -> RunOutcome:
        """Pin the draft (or the requested version), run it, and return its outcome.

        With a key the same request starts one run. When the caller is cancelled, so is the run. `until_waiting`
        returns when the run, or one that its steps started, waits for an approval, an event or at a breakpoint, and
        with `longest_wait_seconds` for a time that is further away.
        """
        start = checked(
            RunStart,
            text=text,
            form_data=dict(form),
            file_ids=list(file_ids),
            version=version,
            deadline_seconds=deadline_seconds,
            budget=budget,
            priority=priority,
            stop_before=list(stop_before),
            step_through=step_through,
        )
        run_id = await start_once(
            self.database, self.engine, principal, flow_id, start, idempotency_key=idempotency_key, outside=outside
        )
        look = partial(self.engine.store.run_wait, run_id, principal.tenant_id, longest_seconds=longest_wait_seconds)
        watching = asyncio.create_task(self._watch(principal, run_id, on_event, look, until_waiting=until_waiting))
        try:
            await self._end_of(run_id, watching)
        except asyncio.CancelledError:
            await asyncio.shield(service.cancel_run(self.engine, principal, run_id))
            raise
        finally:
            watching.cancel()
        return await self._outcome(principal, run_id, look)

    async def _end_of(self, run_id: str, watching: "asyncio.Task[bool]") -> None:
        """Wait until the run is over and its events were reported, or `watching` has found that it waits."""
        over = asyncio.ensure_future(self.engine.wait(run_id))
        try:
            await asyncio.wait([over, watching], return_when=asyncio.FIRST_COMPLETED)
            waits = watching.done() and watching.exception() is None and watching.result()
            if not waits:
                await over
                await asyncio.wait([watching], timeout=1.0)
        finally:
            over.cancel()

    async def _watch(
        self, principal: Principal, run_id: str, on_event: RunEvent, look: Look, *, until_waiting: bool
    ) -> bool:
        """Report the events of the run. Returns whether it ended early because the run waits."""
        events = RunStream(self.engine, principal.tenant_id, run_id).events()
        async with aclosing(with_waits(events, look)) as parts:
            async for event in parts:
                if not isinstance(event, RunWait):
                    on_event(run_id, event.kind, event.data)
                elif until_waiting:
                    return True
        return False

    async def outcome_of(self, principal: Principal, run_id: str) -> RunOutcome:
        """Return the outcome of a run from its stored results."""
        return await self._outcome(principal, run_id, partial(self.engine.store.run_wait, run_id, principal.tenant_id))

    async def _outcome(self, principal: Principal, run_id: str, look: Look) -> RunOutcome:
        run = await service.answer_of(self.engine, principal, run_id)
        async with self.database.reading() as session:
            made = await files.list_files(session, principal, flow_run_id=run_id)
        waits = await look() if run.status == "waiting" else None
        paid = [step for step in run.steps if step.reused_from_run_id is None and not step.pinned]
        return RunOutcome(
            run_id=run.id,
            status=run.status,
            outputs=_shown(run),
            files=[cast("dict[str, JsonValue]", as_value(row).model_dump(mode="json")) for row in reversed(made)],
            error=run.error.message if run.error else "",
            duration_ms=round(run.ms or 0),
            input_tokens=sum(step.tokens_input or 0 for step in paid),
            output_tokens=sum(step.tokens_output or 0 for step in paid),
            waits_for=waits.reason if waits is not None else "",
            waiting_run_id=waits.run_id if waits is not None else "",
            waits_until=moment(waits.until).isoformat() if waits is not None and waits.until is not None else "",
            outside=tuple(f"{origin.kind}:{origin.name}" for origin in run.outside_content),
        )


def _shown(run: RunOut) -> dict[str, JsonValue]:
    """Return the text of each final step; of an artifact its beginning and location."""
    outputs = (run.output or {}).get("outputs", {})
    return {step: _text(run.id, payload) for step, payload in outputs.items()}


def _text(run_id: str, payload: Mapping[str, Any]) -> str:
    text = str(payload["text"] or "")
    entry = payload["outputs"].get(payload.get("main"), {})
    if not entry.get("truncated"):
        return text
    where = f"headgate runs text {run_id}, or headgate runs download {entry['file_id']}"
    return f"{text}\n... [shortened: the beginning of {entry['size_bytes']:,} bytes. Complete: {where}]"
