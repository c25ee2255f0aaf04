"""Exports of runs, as CSV or JSON Lines: streamed page by page, with the rights of the caller at each page."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, get_args

import orjson

from headgate.features.access.principal import Again
from headgate.features.runs.run_filter import RunFilter
from headgate.features.runs.schemas import RunSummary
from headgate.features.runs.service import page_of_runs
from headgate.foundation.csv_lines import csv_line
from headgate.foundation.database import Database

ExportFormat = Literal["csv", "jsonl"]
RunColumn = Literal[
    "id",
    "flow_id",
    "flow",
    "status",
    "version",
    "release",
    "trigger",
    "owner",
    "tags",
    "cost_usd",
    "ms",
    "created_at",
    "started_at",
    "finished_at",
    "session_id",
    "error_code",
    "error",
    "text",
]
COLUMNS: tuple[RunColumn, ...] = get_args(RunColumn)
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
PAGE = 200


async def export_runs(
    database: Database,
    again: Again,
    run_filter: RunFilter,
    *,
    form: ExportFormat,
    search: str | None = None,
    columns: tuple[RunColumn, ...] = COLUMNS,
) -> AsyncIterator[bytes]:
    """Yield the lines of runs, newest first; of CSV the header first.

    No connection is held while the receiver reads. `again` returns the caller with the rights of the moment, or raises:
    the export ends then.
    """
    before: str | None = None
    if form == "csv":
        yield csv_line(columns)
    while True:
        principal = await again()
        async with database.reading() as session:
            runs, before = await page_of_runs(
                session, principal, run_filter, search=search, details=True, limit=PAGE, before=before
            )
        yield b"".join(_line(run, columns, form) for run in runs)
        if before is None:
            return


def _line(run: RunSummary, columns: tuple[RunColumn, ...], form: ExportFormat) -> bytes:
    members = {column: _VALUES.get(column, _own)(run, column) for column in columns}
    if form == "jsonl":
        return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)
    return csv_line(", ".join(value) if isinstance(value, list) else value for value in members.values())


def _own(run: RunSummary, column: str) -> Any:  # noqa: ANN401 - a JSON value
    value = getattr(run, column)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _detail(run: RunSummary, column: str) -> Any:  # noqa: ANN401 - a JSON value
    return getattr(run.details, column)


def _trigger(run: RunSummary, _: str) -> str | None:
    return run.details.trigger.name if run.details and run.details.trigger else None


def _error(run: RunSummary, column: str) -> str | None:
    if run.error is None:
        return None
    return run.error.code if column == "error_code" else run.error.message


_VALUES: dict[str, Callable[[RunSummary, str], Any]] = {
    **dict.fromkeys(("flow", "release", "owner", "tags", "cost_usd"), _detail),
    **dict.fromkeys(("error", "error_code"), _error),
    "trigger": _trigger,
}
