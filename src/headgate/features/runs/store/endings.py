"""Logs one line for each run that ends, in whichever engine and process."""

from dataclasses import asdict

from headgate.features.runs.transitions import Cancelled, Ending, Progress
from headgate.foundation.log import get_logger

ENDING_SQL = (
    "SELECT r.id, r.flow_id, r.version, r.status, (r.finished_at - r.started_at + 500) / 1000, count(s.step_id),"
    " coalesce(sum(CASE WHEN s.reused_from_run_id IS NULL"
    " THEN coalesce(s.num_tokens_input, 0) + coalesce(s.num_tokens_output, 0) END), 0), r.error_code"
    " FROM flow_runs r LEFT JOIN flow_step_results s ON s.flow_run_id = r.id AND s.flow_id = r.flow_id"
    " WHERE r.id = :run_id GROUP BY r.id"
)
"""The columns of `Ending`."""
log = get_logger(__name__)


def ended_run(outcome: Progress | Cancelled | bool | None) -> bool:  # noqa: FBT001 - what `RunStore.end` returns
    """Whether a transition ended its run."""
    if isinstance(outcome, Progress):
        return outcome.ended
    return outcome.changed if isinstance(outcome, Cancelled) else bool(outcome)


def log_ending(ending: Ending) -> None:
    """Log the line."""
    log.info("run ended", **asdict(ending))
