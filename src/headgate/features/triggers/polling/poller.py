"""Polls a trigger: reads its source with the rights of its owner, and starts a run for each new item, once.

A poll is the job of its trigger. Each run is written with its occurrence, and the last one with the cursor after all of
them: a poll that ends in between is repeated from the old cursor, and items that have an occurrence start nothing.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from headgate.features.access.principal import Principal
from headgate.features.runs.steps.secrecy import errors_without
from headgate.features.runs.transitions import clock
from headgate.features.triggers.errors import OwnerGone, TriggerChanged, TriggerInvalid
from headgate.features.triggers.firing import RETRY_SECONDS, Firing
from headgate.features.triggers.holidays import holidays_at
from headgate.features.triggers.hooks.bodies import text_of
from headgate.features.triggers.mapped_input import Mapped, mapped_input
from headgate.features.triggers.occurrences import Claimed, Fired, Occurrence, Source, bounded_key
from headgate.features.triggers.poll_settings import PollConfig
from headgate.features.triggers.polling import sources
from headgate.features.triggers.polling.context import PollContext, Sources
from headgate.features.triggers.polling.cursor import Cursor, cursor_of
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.settings import OccurrenceInput, ScheduleConfig, TriggerInput
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.uploads import UploadStore, fire_with_files
from headgate.features.triggers.views import config_of
from headgate.foundation.errors import DatabaseUnavailable, HeadgateError, RateLimited, Unavailable, UpstreamFailed
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.log import get_logger
from headgate.foundation.secret_values import SecretValues, use
from headgate.sdk.outside import mark

LONGEST_POLL_SECONDS = 300
LONGEST_BACKOFF_SECONDS = 6 * 3600
LONGEST_ERROR = 500
CALENDAR_SECONDS = 86_400
CALENDAR_RETRY_SECONDS = 900
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Polled:
    """What a poll result, ready to start runs."""

    result: PollResult
    occurrences: tuple[Occurrence, ...]
    """One for each item."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a poll ended; it is stored when the claim of the trigger is released."""

    next_at: int | None
    """When to poll again; None: the trigger was paused."""
    values: dict[str, Any]
    """Columns of the trigger."""


class Poller:
    """Polls triggers.

    Args:
        firing: Starts runs.
        sources: What is read with.
        uploads: Stores files of items.
    """

    def __init__(self, firing: Firing, sources: Sources, uploads: UploadStore) -> None:
        self._firing = firing
        self._sources = sources
        self._uploads = uploads

    async def poll(self, listed: Listed, claimed: Claimed) -> Ended:
        """Poll and start runs.

        Raises `TriggerChanged` and `Unavailable`; then it is polled again from the same cursor.
        """
        config: Any = config_of(listed.row)
        cursor = cursor_of(listed.row.poll_cursor)
        try:
            cursor = await self._confirmed(listed, config, cursor, claimed)
            polled = await self.read(listed, config, cursor)
            await self._fire(listed, polled, claimed)
            await self._confirmed(listed, config, polled.result.cursor, claimed)
        except (TriggerChanged, Unavailable):
            raise
        except OwnerGone as error:
            await self._firing.pause(listed, f"Its owner cannot start it: {error}")
            return Ended(None, {"polled_at": clock()})
        except RateLimited as error:  # what was not started is result again
            log.info("poll postponed", trigger_id=listed.row.id, problem=error.detail)
            return Ended(clock() + RETRY_SECONDS * SECOND, {})
        except HeadgateError as error:
            return await self._failed(listed, config, str(error))
        except Exception:
            log.exception("poll failed", trigger_id=listed.row.id)
            return await self._failed(listed, config, "An unexpected error occurred; see the server log.")
        pause = min(config.every_seconds, polled.result.again_seconds or config.every_seconds)
        next_at = clock() if polled.result.more else clock() + pause * SECOND
        return Ended(
            next_at, {"poll_failures": 0, "poll_error": polled.result.waits_for[:LONGEST_ERROR], "polled_at": clock()}
        )

    async def read(
        self, listed: Listed, config: PollConfig, cursor: Cursor | None, *, with_unsettled: bool = False
    ) -> Polled:
        """Return what is new, also what may be incomplete if so asked. Raises what the source and the rights refuse."""
        owner = await self._firing.owner_of(listed.row, listed.space_id)
        context = self.context(owner, with_unsettled=with_unsettled)
        source = sources.SOURCES[type(config)]
        result: PollResult = await self._within_time(_read(context, source.read(context, config, cursor)))
        classification = context.classification
        origin = None if classification is None else Source(listed.space_id, classification)
        saved = TriggerInput.model_validate(listed.row.input)
        occurrences = [await self._occurrence(listed.row, config, item, saved, origin) for item in result.items]
        return Polled(result, tuple(occurrences))

    async def read_calendar(self, listed: Listed, claimed: Claimed, due_at: int | None) -> Ended | None:
        """Read the calendar of a schedule once a day; the last copy is kept when it cannot be read.

        Returns when the schedule is due again, at once after a new copy, or None for one without a calendar. Raises
        `TriggerChanged`, `Unavailable`.
        """
        row, config = listed.row, config_of(listed.row)
        if not isinstance(config, ScheduleConfig) or not config.calendar_url or due_at is None:
            return None
        failures = row.poll_failures
        pause = backoff_seconds(CALENDAR_RETRY_SECONDS, failures) if failures else CALENDAR_SECONDS
        again_at = clock() if row.poll_cursor is None and not failures else (row.polled_at or 0) + pause * SECOND
        if again_at > clock():
            return Ended(min(due_at, again_at), {})
        try:
            context = self.context(await self._firing.owner_of(row, listed.space_id))
            days = await self._within_time(_read(context, holidays_at(context, config.calendar_url)))
        except Unavailable:
            raise
        except HeadgateError as error:
            log.info("calendar not read", trigger_id=row.id, problem=error.detail)
            values = {"poll_failures": failures + 1, "poll_error": str(error)[:LONGEST_ERROR], "polled_at": clock()}
            pause = backoff_seconds(CALENDAR_RETRY_SECONDS, failures + 1)
            return Ended(min(due_at, clock() + pause * SECOND), values)
        cursor = Cursor(value=[day.isoformat() for day in days])
        await self._firing.skip(row, [], replace(claimed, poll_cursor=cursor.text()))
        return Ended(clock(), {"poll_failures": 0, "poll_error": "", "polled_at": clock()})

    def context(self, owner: Principal, *, with_unsettled: bool = False) -> PollContext:
        """Return the context in which components read with the rights of a user."""
        return PollContext(self._sources, owner, SecretValues(), with_unsettled=with_unsettled)

    def can_listen(self, config: PollConfig) -> bool:
        """Whether the source of a trigger reports changes, and is to do so."""
        return (
            sources.SOURCES[type(config)].wait is not None
            and getattr(config, "idle", True)
            and getattr(config, "watch", True)
        )

    async def wait_for_change(self, listed: Listed, config: PollConfig, known: str, seconds: float) -> str:
        """Return the state of a source once it is not `known`, or after the time. Raises what the source refuses."""
        wait = sources.SOURCES[type(config)].wait
        if wait is None:
            raise TriggerInvalid(f"A {listed.row.kind} reports no changes.")
        context = self.context(await self._firing.owner_of(listed.row, listed.space_id))
        state: str = await _read(context, wait(context, config, known, seconds))
        return state

    async def _within_time(self, reading: Any) -> Any:  # noqa: ANN401 - a coroutine and its result
        """Await in a separate task, which knows the secrets that it reads."""
        task = asyncio.create_task(reading)
        try:
            async with asyncio.timeout(LONGEST_POLL_SECONDS):
                return await task
        except TimeoutError as error:
            raise UpstreamFailed(f"The poll took longer than {LONGEST_POLL_SECONDS} seconds.") from error
        except DatabaseUnavailable:
            raise
        except Unavailable as error:  # a part that reads the source is missing: a failed poll, which is shown
            raise UpstreamFailed(error.detail, remedy=error.remedy) from error
        finally:
            task.cancel()

    async def _occurrence(
        self, row: TriggerRow, config: PollConfig, item: Item, saved: TriggerInput, source: Source | None
    ) -> Occurrence:
        marks = (mark("event", f"{row.kind} {row.name}"),)
        occurrence = Occurrence(
            f"item:{bounded_key(item.key)}", OccurrenceInput.model_validate(saved.model_dump()), outside=marks,
            is_call=True, source=source,
        )  # fmt: skip
        if item.refusal:
            return replace(occurrence, refusal=TriggerInvalid(item.refusal, remedy="Check the source."))
        text = text_of(item.value) if item.text is None else item.text
        try:
            content = Mapped(item.value, text, config.text_from, config.form_from)
            return replace(occurrence, input=await run_in_flow_thread(mapped_input, saved, content, name=row.name))
        except TriggerInvalid as error:
            return replace(occurrence, refusal=error)

    async def _fire(self, listed: Listed, polled: Polled, claimed: Claimed) -> None:
        """Start a run for each item; the last one, or a separate write, moves the cursor."""
        moved = replace(claimed, poll_cursor=polled.result.cursor.text())
        fired: Fired | None = None
        for number, (item, occurrence) in enumerate(zip(polled.result.items, polled.occurrences, strict=True), 1):
            claim = moved if number == len(polled.occurrences) else claimed
            fired = await fire_with_files(self._firing, self._uploads, listed, occurrence, item.files, claimed=claim)
        if (fired is None or fired.duplicate) and moved.poll_cursor != listed.row.poll_cursor:
            await self._firing.skip(listed.row, [], moved)

    async def _confirmed(
        self, listed: Listed, config: PollConfig, cursor: Cursor | None, claimed: Claimed
    ) -> Cursor | None:
        """Tell the source which runs are stored, also those of a poll that ended before it did. Returns the cursor."""
        confirm = sources.SOURCES[type(config)].confirm
        if cursor is None or not cursor.unconfirmed or confirm is None:
            return cursor
        context = self.context(await self._firing.owner_of(listed.row, listed.space_id))
        await self._within_time(_read(context, confirm(context, config, cursor.unconfirmed)))
        cursor = replace(cursor, unconfirmed=())
        await self._firing.skip(listed.row, [], replace(claimed, poll_cursor=cursor.text()))
        return cursor

    async def _failed(self, listed: Listed, config: PollConfig, message: str) -> Ended:
        """Return why a poll failed; pauses the trigger after several in a row."""
        failures = listed.row.poll_failures + 1
        values = {"poll_failures": failures, "poll_error": message[:LONGEST_ERROR], "polled_at": clock()}
        log.info("poll failed", trigger_id=listed.row.id, failures=failures, problem=message)
        most = config.pause_after_errors
        if most is not None and failures >= most:
            times = f"{most} polls in a row failed" if most > 1 else "Its last poll failed"
            if await self._firing.pause(listed, f"{times}: {message}"[:LONGEST_ERROR]):
                return Ended(None, values)
        return Ended(clock() + backoff_seconds(config.every_seconds, failures) * SECOND, values)


def backoff_seconds(every_seconds: int, failures: int) -> int:
    """Return the time until the poll after so many failures in a row: it doubles, up to six hours."""
    return max(every_seconds, min(every_seconds * 1 << min(failures, 20), LONGEST_BACKOFF_SECONDS))


async def _read(context: PollContext, reading: Any) -> Any:  # noqa: ANN401 - a coroutine and its result
    use(context.secrets)
    with errors_without(context.secrets):
        result = await reading
    if not isinstance(result, PollResult):
        return result
    items = tuple(
        replace(
            item,
            key=context.secrets.text(item.key),
            value=context.secrets.json(item.value),
            text=None if item.text is None else context.secrets.text(item.text),
        )
        for item in result.items
    )
    return replace(result, items=items)
