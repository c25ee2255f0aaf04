"""Ends the wait of a client whose run waits for a user or an event: it could take days."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress

from headgate.features.access.principal import Principal
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunOut, WaitsForOut
from headgate.features.runs.service import LONGEST_WAIT_SECONDS, answer_of
from headgate.features.runs.waiting import RunWait, WaitReason
from headgate.foundation.database import moment
from headgate.foundation.sse import SseEvent

LOOK_SECONDS = 0.5
"""How often a run that rests is asked what it waits for: one of its steps may wait for a run that it started."""
_REMEDIES = {
    WaitReason.APPROVAL: "Decide it in the inbox, with `headgate approvals`, or POST /api/v1/approvals/{id}/decision; "
    "then the run continues.",
    WaitReason.EVENT: "Send the event with `headgate events send` or POST /api/v1/events; then the run continues.",
    WaitReason.BREAKPOINT: "Continue it with `headgate runs continue RUN --then next`, or POST "
    "/api/v1/flow-runs/{run_id}/breakpoints/continue.",
}


async def end_or_wait(engine: ExecutionBackend, run_id: str, tenant_id: str, *, seconds: float) -> RunWait | None:
    """Wait until the run is over or waits for an approval, an event or at a breakpoint, at most this many seconds.

    Returns what it waits for; None when it is over, or the time is.
    """
    over = asyncio.ensure_future(engine.wait(run_id))
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    try:
        while not (await asyncio.wait([over], timeout=min(LOOK_SECONDS, max(0.0, until - loop.time()))))[0]:
            wait = await engine.store.run_wait(run_id, tenant_id)
            if wait is not None or loop.time() >= until:
                return wait
        await over
    finally:
        over.cancel()
    return None


async def with_waits(
    events: AsyncGenerator[SseEvent, None], look: Callable[[], Awaitable[RunWait | None]]
) -> AsyncGenerator[SseEvent | RunWait, None]:
    """Yield the events of a run, and between them what it waits for: once for each time that it rests."""
    rests = shown = False
    following: asyncio.Future[SseEvent] | None = None
    try:
        while True:
            following = following or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait([following], timeout=LOOK_SECONDS if rests and not shown else None)
            if done:
                try:
                    event = following.result()
                except StopAsyncIteration:
                    return
                following = None
                yield event
                rests = event.kind == "run_waiting" or (rests and not event.kind.startswith(("run_", "step_")))
                shown = shown and rests
            wait = await look() if rests and not shown else None
            if wait is not None:
                shown = True
                yield wait
    finally:
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await following
        await events.aclose()


async def wait_or_end(
    engine: ExecutionBackend, principal: Principal, run_id: str, *, seconds: float = LONGEST_WAIT_SECONDS
) -> RunOut:
    """Return a run that the caller has just started, once it is over, waits for an approval or event, or in time."""
    wait = await end_or_wait(engine, run_id, principal.tenant_id, seconds=seconds)
    return with_wait(await answer_of(engine, principal, run_id), wait)


def with_wait(run: RunOut, wait: RunWait | None) -> RunOut:
    """Return a run with what it waits for, and how it continues."""
    if wait is None:
        return run
    return run.model_copy(
        update={
            "waits_for": WaitsForOut(
                reason=wait.reason,
                until=None if wait.until is None else moment(wait.until),
                run_id=wait.run_id,
                flow_id=wait.flow_id,
                step_id=wait.step_id,
                remedy=_REMEDIES[wait.reason],
            )
        }
    )
