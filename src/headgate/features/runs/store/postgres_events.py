"""SQL for PostgreSQL: the part of a transition's statement that appends to the event log of its run.

A statement lists its events in CTEs. `logged` numbers them after `run.last_event`, which is read under the lock on the
run's row, and the update of that row adds `COUNT`, so the numbers have no gaps.
"""

# ruff: noqa: S608 - only constants are inserted into the statements

COLUMNS = "flow_run_id, seq, kind, step_id, attempt, at, data"
COUNT = "(SELECT count(*) FROM logged)"
"""Number of events that the statement appends."""


def logged(*sources: str, after: str = "run.last_event", run: str = "run") -> str:
    """Return the CTE that inserts events.

    Args:
        sources: `kind, step_id, attempt, data FROM ...`, in the order of events; the first one with types.
        after: Number of the previous event.
        run: The source of `after`.
    """
    rows = " UNION ALL ".join(f"SELECT {position} AS place, {source}" for position, source in enumerate(sources))
    return (
        f"logged AS (INSERT INTO flow_run_events ({COLUMNS})"
        f" SELECT %(run_id)s, {after} + row_number() OVER (ORDER BY e.place, e.step_id), e.kind, e.step_id, e.attempt,"
        f" %(at)s, e.data::jsonb FROM {run}, ({rows}) AS e(place, kind, step_id, attempt, data) RETURNING 1)"
    )


NOTHING = "NULL::text, NULL::int, NULL::text"
"""No step, attempt or data."""
STARTED = "'step_started', step_id, attempts, NULL FROM {source} WHERE status = 'running'"
RESUMED = "'run_started', NULL::text, NULL::int, '{{\"resumed\":true}}' FROM {source}"
COMPLETED = "'step_completed', step_id, %(attempt)s::int, %(event)s::text FROM done"
