"""Agendas of many frequent schedules."""

from headgate.features.runs.transitions import clock
from headgate.features.triggers.agenda import agenda_of
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.tables import TriggerRow

DAY = 86_400 * SECOND


def listed(name: str, every_seconds: int, at: int) -> Listed:
    config = {"kind": "schedule", "every_seconds": every_seconds}
    row = TriggerRow(id=name, name=name, flow_id="flow", config=config, enabled=True, cursor_at=at, created_at=at)
    return Listed(row, flow_name="Flow", space_id="space", published=True, owner_name="")


def test_frequent_schedules_hide_no_rare_one() -> None:
    """Those alone have more due times in a day than an agenda computes."""
    at = (clock() // DAY + 1) * DAY
    rows = [listed(f"frequent-{number:02}", 60, at) for number in range(60)]
    rows.append(listed("hourly", 3_600, at))
    entries = agenda_of(rows, at + DAY, 200, fold=True)
    assert {entry.trigger_id for entry in entries} == {row.row.id for row in rows}
    ends = {entry.trigger_id: entry.until or entry.due_at for entry in entries}
    assert (max(ends.values()) - min(ends.values())).total_seconds() <= 3_600
    assert sum(entry.count for entry in entries) <= 50_000
