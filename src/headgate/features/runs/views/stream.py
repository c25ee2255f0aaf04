"""A run's events for a reader that may come late, lose the line and come back, or ask after a restart.

An event's id is its place in the engine's feed: `<epoch>-<number>` of this process's own bus, or a place in a Redis
stream that every process understands. A reader who gives the id of the last event it saw goes on behind it. Whoever
comes without one that fits first gets what is already settled from the rows (ids `r-<number>`, no tokens), then what
happens from now on. An event may come twice, never not at all: each says what is so, so that saying it again changes
nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import Any

from headgate.features.access.principal import Principal
from headgate.features.runs import repository
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.events import ENDINGS, result_told, topic_of
from headgate.features.runs.service import plan_of
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.payloads import PREVIEW_IN_EVENTS, main_text
from headgate.features.runs.views.runs import Labels, labels_of
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.events import Heard
from headgate.foundation.quoting import shortened
from headgate.foundation.sse import Told

POLL_SECONDS = 0.5
"""How often the rows of a run that another process carries out are read."""
_SETTLED = {"completed": "step_completed", "failed": "step_failed", "skipped": "step_skipped"}
_Fact = tuple[str, str, dict[str, Any]]
"""Kind of event, step it is about, data."""
_ENDED = {RunStatus.COMPLETED: "run_completed", RunStatus.FAILED: "run_failed", RunStatus.CANCELLED: "run_cancelled"}


class RunStream:
    """The events of one run, for one reader.

    Args:
        database: Where the rows are.
        engine: Whose bus is listened to.
        principal: Who reads.
        run_id: The run.
    """

    def __init__(self, database: Database, engine: ExecutionBackend, principal: Principal, run_id: str) -> None:
        self._database = database
        self._engine = engine
        self._principal = principal
        self._run_id = run_id
        self._said: set[tuple[str, str]] = set()
        """Told from the rows."""
        self._heard: set[tuple[str, str]] = set()
        """Told as it happened."""
        self._number = 0

    async def events(self, last_id: str = "") -> AsyncGenerator[Told, None]:
        """Every event behind `last_id`, until the run is over. Raises `RunNotFound` before the first."""
        feed, topic = self._engine.feed, topic_of(self._run_id)
        seen = feed.place(last_id)
        while True:
            while not await feed.knows(topic):
                # Nothing is heard of it here: what the rows say, until something is or the run is over.
                for told in await self._replay():
                    yield told
                    if told.kind in ENDINGS:
                        return
                await asyncio.sleep(POLL_SECONDS)
            try:
                async for told in self._live(feed.follow(topic, after=seen), seen=bool(seen)):
                    seen = feed.place(told.id) or seen
                    yield told
                    if told.kind in ENDINGS:
                        return
            except Unavailable:
                await asyncio.sleep(POLL_SECONDS)
            else:
                return

    async def _live(self, heard: AsyncIterator[Heard | None], *, seen: bool) -> AsyncGenerator[Told, None]:
        """What is heard, with what the rows say wherever something may have been missed."""
        async for event in heard:
            if event is None or (not seen and not _begins(event)):
                for told in await self._replay():
                    yield told
            if event is None:
                continue
            seen = True
            what = event.kind, str(event.data.get("step_id", ""))
            if what not in self._said:
                self._heard.add(what)
                yield Told(event.id, event.kind, event.data)

    async def _replay(self) -> Sequence[Told]:
        """What is settled by the rows and was not said yet."""
        async with self._database.reading() as session:
            tenant = self._principal.tenant_id
            run = await repository.find_run(session, self._run_id, tenant_id=tenant)
            steps = await repository.list_steps(session, self._run_id, tenant_id=tenant)
        if run is None:
            raise RunNotFound(self._run_id)
        labels = labels_of(await plan_of(self._engine, run))
        found = [*_beginning(run, steps), *_steps_so_far(steps, labels), *_ending(run, steps)]
        return [self._say(*one) for one in found if one[:2] not in self._said | self._heard]

    def _say(self, kind: str, step_id: str, data: dict[str, Any]) -> Told:
        self._said.add((kind, step_id))
        if kind in _SETTLED.values():
            # What the bus still holds of this step came before that.
            self._said.update((earlier, step_id) for earlier in ("step_started", "token", "step_log"))
        self._number += 1
        return Told(f"r-{self._number}", kind, data)


def _begins(event: Heard) -> bool:
    """Whether the feed holds the run from its beginning on."""
    return event.first and event.kind in {"run_queued", "run_started"} and not event.data.get("resumed")


def _beginning(run: Any, steps: Sequence[Any]) -> Iterator[_Fact]:  # noqa: ANN401 - a row
    kind = "run_started" if run.started_at is not None else "run_queued"
    yield kind, "", {"flow_id": run.flow_id, "version": run.version, "steps": len(steps)}


def _steps_so_far(steps: Sequence[Any], labels: Labels) -> Iterator[_Fact]:
    settled = sorted((step for step in steps if step.status in _SETTLED), key=lambda step: step.finished_at)
    for step in settled:
        yield _SETTLED[step.status], step.step_id, _step_told(step, labels)
    for step in steps:
        if step.status == "running":
            yield "step_started", step.step_id, {**_named(step, labels), "attempt": step.attempts}


def _ending(run: Any, steps: Sequence[Any]) -> Iterator[_Fact]:  # noqa: ANN401
    if RunStatus(run.status) in _ENDED:
        yield _ENDED[RunStatus(run.status)], "", _ending_told(run, steps)


def _named(step: Any, labels: Labels) -> dict[str, Any]:  # noqa: ANN401 - a row
    return {
        "step_id": step.step_id,
        "order": step.step_order,
        "type": step.type,
        "label": labels.get(step.step_id, step.step_id),
    }


def _step_told(step: Any, labels: Labels) -> dict[str, Any]:  # noqa: ANN401
    told = _named(step, labels)
    if step.status == "skipped":
        return told
    told["ms"] = (step.finished_at - step.started_at) / 1000
    if step.status == "failed":
        return told | {"code": step.error_code, "message": step.error_message}
    text = main_text(step.output_payload) or ""
    tokens = {"tokens_input": step.num_tokens_input, "tokens_output": step.num_tokens_output}
    return told | tokens | {"preview": shortened(text, PREVIEW_IN_EVENTS)}


def _ending_told(run: Any, steps: Sequence[Any]) -> dict[str, Any]:  # noqa: ANN401
    if run.status == RunStatus.COMPLETED:
        return {"ms": (run.finished_at - run.started_at) / 1000, **result_told(run.output_payload or {})}
    if run.status == RunStatus.FAILED:
        failed = next((step.step_id for step in steps if step.status == "failed"), None)
        return {"code": run.error_code, "message": run.error_message, "step_id": failed}
    return {}
