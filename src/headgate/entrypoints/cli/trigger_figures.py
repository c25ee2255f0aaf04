"""`headgate triggers statistics`."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.output import JsonFlag, print_rows
from headgate.entrypoints.cli.session import acting, with_reading
from headgate.entrypoints.cli.trigger_links import TriggerId
from headgate.features.triggers.figures import trigger_statistics


def statistics(
    trigger: TriggerId,
    days: Annotated[int, typer.Option(min=1, max=90, help="Days up to now.")] = 7,
    json: JsonFlag = False,
) -> None:
    """Count what a trigger started and skipped, and why; its failed runs, and how late it was."""
    statistics = with_reading(lambda session, _: trigger_statistics(session, acting(), trigger, days=days))
    late = statistics.lateness
    rows = [
        ("started", statistics.started),
        ("  completed", statistics.completed),
        ("  failed", statistics.failed),
        ("queued", statistics.queued),
        ("cancelled", statistics.cancelled),
        *((f"skipped: {skips.reason}", skips.occurrences) for skips in statistics.skipped),
        ("late, median", "-" if late is None else f"{late.p50_seconds:.1f} s"),
        ("late, 95 %", "-" if late is None else f"{late.p95_seconds:.1f} s"),
        ("late, most", "-" if late is None else f"{late.max_seconds:.1f} s"),
    ]
    print_rows(statistics, ("", f"last {days} days"), rows, json=json)
