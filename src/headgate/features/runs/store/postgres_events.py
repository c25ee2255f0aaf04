"""The part of a transition's statement for PostgreSQL that appends to the event log of its run.

A statement names what happened in CTEs of its own. `logged` numbers these events behind `run.last_event`, which is read
under the lock on the run's row, and whatever updates that row adds `COUNT`: the numbers have no gaps.
"""

# ruff: noqa: S608 - what is put into the statements are constants

COLUMNS = "flow_run_id, seq, kind, step_id, attempt, at, data"
COUNT = "(SELECT count(*) FROM logged)"
"""How many events the statement appends."""


def logged(*sources: str, after: str = "run.last_event", run: str = "run") -> str:
    """The CTE that inserts events.

    Args:
        sources: `kind, step_id, attempt, data FROM ...`, in the order of events; the first one with types.
        after: The number of the last event before.
        run: Where `after` is read.
    """
    rows = " UNION ALL ".join(f"SELECT {place} AS place, {source}" for place, source in enumerate(sources))
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
