"""Triggers, occurrences and future due times for display."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows.service import get_flow, names_of
from headgate.features.flows.versions import content_of
from headgate.features.runs.transitions import clock
from headgate.features.triggers.input_problems import problems_of
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import ClockNote, Schedule
from headgate.features.triggers.schemas import (
    ClockNoteOut,
    FiringOut,
    OccurrenceOut,
    PreviewOut,
    TriggerIn,
    TriggerOut,
)
from headgate.features.triggers.settings import Config, FlowConfig, ScheduleConfig, TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.features.triggers.words import calendar_days, schedule_of, schedule_of_row, sentence_of
from headgate.foundation.database import moment
from headgate.graph.model import Flow


def config_of(row: TriggerRow) -> Config:
    """Return the settings of a trigger by its kind."""
    return TriggerIn.model_validate({"name": row.name, "config": row.config}).config


async def trigger_out(session: AsyncSession, principal: Principal, listed: Listed) -> TriggerOut:
    """Return a trigger for display."""
    return (await triggers_out(session, principal, [listed]))[0]


async def triggers_out(session: AsyncSession, principal: Principal, rows: Sequence[Listed]) -> list[TriggerOut]:
    """Return triggers for display."""
    configs = [config_of(listed.row) for listed in rows]
    others = [config.flow_id for config in configs if isinstance(config, FlowConfig)]
    names: Mapping[str, str] = await names_of(session, principal, others) if others else {}
    shown = [_trigger_out(listed, config, names) for listed, config in zip(rows, configs, strict=True)]
    if len({listed.row.flow_id for listed in rows}) == 1 and principal.may(Permission.FLOWS_VIEW, rows[0].space_id):
        flow = await _running(session, principal, rows[0].row.flow_id)
        for trigger in shown:
            trigger.problems = problems_of(flow, trigger.config, trigger.input)
    return shown


async def _running(session: AsyncSession, principal: Principal, flow_id: str) -> Flow:
    """Return the published version of a flow, else its draft."""
    row = await get_flow(session, principal, flow_id)
    return await content_of(session, principal, flow_id, row.published_version)


def _trigger_out(listed: Listed, config: Config, names: Mapping[str, str]) -> TriggerOut:
    row = listed.row
    return TriggerOut.model_validate(
        {
            "id": row.id,
            "flow_id": row.flow_id,
            "flow_name": listed.flow_name,
            "space_id": listed.space_id,
            "name": row.name,
            "kind": row.kind,
            "config": row.config,
            "policies": row.policies,
            "input": TriggerInput.model_validate(row.input),
            "owner_user_id": row.owner_user_id,
            "owner_name": listed.owner_name,
            "enabled": row.enabled,
            "paused_reason": row.paused_reason,
            "sentence": sentence_of(config, names),
            "next_at": None if row.next_at is None else moment(row.next_at),
            "published": listed.published,
            "path": _path(row),
            "submissions": row.submissions,
            "calendar_days": calendar_days(row),
            "polled_at": None if row.polled_at is None else moment(row.polled_at),
            "poll_error": row.poll_error if row.poll_failures else "",
            "waits_for": "" if row.poll_failures else row.poll_error,
            "only_polled": row.only_polled,
            "catching": row.catching_until is not None and row.catching_until > clock() and row.caught is None,
            "created_at": moment(row.created_at),
            "updated_at": moment(row.updated_at),
        }
    )


def _path(row: TriggerRow) -> str | None:
    if row.address is None or row.config.get("access") == "links":
        return None
    return f"/{'forms' if row.kind == 'form' else 'hooks'}/{row.address}"


def next_of(row: TriggerRow, count: int) -> list[FiringOut]:
    """Return the next occurrences of a schedule that is on; none of another trigger. It blocks."""
    if row.kind != "schedule" or not row.enabled:
        return []
    schedule = schedule_of_row(row)
    return list(firings_of(schedule, max(row.cursor_at, clock()), count))


def preview(config: Config, count: int) -> PreviewOut:
    """Return a trigger in words, and the next occurrences of a schedule. It blocks. Raises `ScheduleInvalid`."""
    firings: list[FiringOut] = []
    if isinstance(config, ScheduleConfig):
        at = clock()
        firings = list(firings_of(schedule_of(config, at), at, count))
    holidays = config.holidays if isinstance(config, ScheduleConfig) else []
    return PreviewOut(sentence=sentence_of(config, {}), next=firings, holidays=holidays)


def firings_of(schedule: Schedule, after: int, count: int) -> Iterator[FiringOut]:
    """Return the next due times after a time, with the nights on which clocks change."""
    for number, at in enumerate(schedule.moments(after)):
        if number == count:
            return
        yield firing_out(schedule, at)


def firing_out(schedule: Schedule, at: int) -> FiringOut:
    """Return a due time for display."""
    local = moment(at).astimezone(schedule.zone)
    return FiringOut(
        due_at=moment(at),
        local=f"{local:%Y-%m-%d %H:%M:%S} {local.tzname()}",
        notes=[_note_out(note) for note in schedule.notes(at)],
    )


def _note_out(note: ClockNote) -> ClockNoteOut:
    return ClockNoteOut.model_validate(
        {
            "kind": note.kind,
            "day": f"{note.written:%Y-%m-%d}",
            "written": f"{note.written:%H:%M}",
            "runs": f"{note.runs:%H:%M}",
            "text": note.sentence(),
        }
    )


def occurrence_out(row: OccurrenceRow, run_status: str | None) -> OccurrenceOut:
    """Return an occurrence for display."""
    return OccurrenceOut.model_validate(
        {
            "id": row.id,
            "trigger_id": row.trigger_id,
            "key": row.occurrence_key,
            "due_at": None if row.due_at is None else moment(row.due_at),
            "created_at": moment(row.created_at),
            "status": row.status,
            "reason": row.reason,
            "message": row.message,
            "run_id": row.flow_run_id,
            "run_status": run_status,
            "backfill_id": row.backfill_id,
        }
    )
