"""Occurrences as values, and the statements that make each unique: written with the run, in its transaction.

The first statement locks the trigger, so that two starts of one trigger are decided one after the other. It names the
claim of the scheduler that fires, so that one which lost its claim writes nothing, and the version of the trigger that
was read, so that none fires with settings, an input or an owner of before a change. The second inserts the occurrence
unless it exists, or a policy of the trigger does not let it start a run now.
"""

import hashlib
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
from pydantic import ValidationError

from headgate.features.runs.companions import Companion
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.states import LIVE_RUNS, sql_list
from headgate.features.triggers.errors import OccurrenceRefused, TriggerChanged, TriggerInvalid
from headgate.features.triggers.sealed import seal, unseal
from headgate.features.triggers.settings import OccurrenceInput, Policies, TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.database import moment
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.keyring import KeyMissing
from headgate.foundation.log import get_logger

LONGEST_KEY = 240
KEPT_MICROSECONDS = 90 * 86_400 * 1_000_000
"""How long occurrences are kept."""
log = get_logger(__name__)

# ruff: noqa: S608 - only constants of `states` are inserted into the statements
_HOLD = (
    "UPDATE triggers SET cursor_at = CASE WHEN CAST(:cursor_at AS BIGINT) > cursor_at THEN CAST(:cursor_at AS BIGINT)"
    " ELSE cursor_at END, poll_cursor = COALESCE(CAST(:poll_cursor AS TEXT), poll_cursor)"
    " WHERE id = CAST(:trigger_id AS VARCHAR) AND updated_at = CAST(:updated_at AS BIGINT)"
    " AND (enabled OR CAST(:by_hand AS INTEGER) = 1)"
    " AND (CAST(:worker_id AS VARCHAR) IS NULL OR (worker_id = CAST(:worker_id AS VARCHAR)"
    " AND attempts = CAST(:attempt AS INTEGER))) RETURNING id"
)
_ALLOWED = (
    "(SELECT count(*) FROM flow_runs r"
    f" WHERE r.flow_id = CAST(:flow_id AS VARCHAR) AND r.status IN {sql_list(LIVE_RUNS)}"
    " AND CAST(:trigger_id AS VARCHAR) IN (SELECT o.trigger_id FROM trigger_occurrences o WHERE o.flow_run_id = r.id))"
    " < CAST(:most AS INTEGER)"
    " AND (CAST(:rate_runs AS INTEGER) IS NULL OR (SELECT count(*) FROM trigger_occurrences o"
    " WHERE o.trigger_id = CAST(:trigger_id AS VARCHAR) AND o.status = 'started'"
    " AND o.created_at > CAST(:rate_since AS BIGINT)) < CAST(:rate_runs AS INTEGER))"
)
"""Reads the runs of the flow that have not ended, and of each its occurrence: not the occurrences of the trigger, which
may be a million."""
_INSERT = (
    "INSERT INTO trigger_occurrences (id, tenant_id, trigger_id, occurrence_key, due_at, created_at, status, reason,"
    " message, flow_run_id, backfill_id)"
    " SELECT CAST(:id AS VARCHAR), CAST(:tenant_id AS VARCHAR), CAST(:trigger_id AS VARCHAR), CAST(:key AS VARCHAR),"
    " CAST(:due_at AS BIGINT), CAST(:at AS BIGINT), 'started', '', '', CAST(:run_id AS VARCHAR),"
    f" CAST(:backfill_id AS VARCHAR) WHERE {_ALLOWED}"
    " ON CONFLICT (trigger_id, occurrence_key) DO UPDATE SET id = excluded.id, created_at = excluded.created_at,"
    " status = 'started', reason = '', message = '', flow_run_id = excluded.flow_run_id"
    " WHERE trigger_occurrences.status = 'skipped' AND CAST(:again AS INTEGER) = 1 RETURNING id"
)
_START_QUEUED = (
    "UPDATE trigger_occurrences SET status = 'started', reason = '', message = '', content = NULL,"
    " created_at = CAST(:at AS BIGINT), flow_run_id = CAST(:run_id AS VARCHAR)"
    f" WHERE id = CAST(:id AS VARCHAR) AND status = 'queued' AND {_ALLOWED} RETURNING id"
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim under which a scheduler fires, and the cursor that it moves. Times are microseconds in UTC."""

    worker_id: str
    attempt: int
    cursor_at: int = 0
    poll_cursor: str | None = None
    """Of a trigger that polls; None leaves it."""


@dataclass(frozen=True, slots=True)
class Source:
    """What an occurrence takes content from: the owner must have read access, and the flow take its classification."""

    space_id: str
    classification: int | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due time or event, with the input of its run."""

    key: str
    input: TriggerInput
    due_at: int | None = None
    outside: tuple[str, ...] = ()
    """Marks of the untrusted content in the input."""
    id: str = field(default_factory=new_id)
    is_queued: bool = False
    """Whether its row exists and waits."""
    backfill_id: str | None = None
    at_once: int | None = None
    """Of a backfill: most runs of the trigger at the same time, instead of those of its policies."""
    queues: bool = False
    """Whether it waits for its turn instead of being skipped: one of a downtime, of which all are run."""
    by_hand: bool = False
    """Whether a user starts it: then a paused trigger fires."""
    is_call: bool = False
    """Whether its sender repeats it when it is refused, and then it is tried again where it had been skipped."""
    source: Source | None = None
    depth: int = 0
    """How many runs before it started each other by triggers."""
    refusal: HeadgateError | None = None
    """Why it must start no run."""
    admission: tuple[Companion, ...] = ()
    """Rows that are written when it starts a run or waits for it. They refuse it with `NotAdmitted`."""
    visitor: str | None = None
    """Digest of the network address of the visitor whose submission it is: its limits apply to the run."""


@dataclass(frozen=True, slots=True)
class Fired:
    """The outcome of an occurrence."""

    occurrence_id: str
    status: str
    reason: str = ""
    message: str = ""
    run_id: str | None = None
    duplicate: bool = False


def due_key(at: int) -> str:
    """Return the key of a due time."""
    return f"at:{moment(at):%Y-%m-%dT%H:%M:%SZ}"


def bounded_key(key: str) -> str:
    """Return a key of others as part of the key of an occurrence: its hash when it is too long or not printable."""
    return key if len(key) <= LONGEST_KEY and key.isprintable() else hashlib.sha256(key.encode()).hexdigest()


def hold(trigger: TriggerRow, claimed: Claimed | None, *, by_hand: bool = False) -> tuple[str, dict[str, Any]]:
    """Return the statement that locks a trigger and moves its cursor, with its values."""
    return _HOLD, {
        "trigger_id": trigger.id,
        "updated_at": trigger.updated_at,
        "cursor_at": 0 if claimed is None else claimed.cursor_at,
        "poll_cursor": None if claimed is None else claimed.poll_cursor,
        "worker_id": None if claimed is None else claimed.worker_id,
        "attempt": 0 if claimed is None else claimed.attempt,
        "by_hand": int(by_hand),
    }


def companions(
    trigger: TriggerRow, occurrence: Occurrence, policies: Policies, claimed: Claimed | None, at: int
) -> tuple[Companion, ...]:
    """Return the rows that are written with the run.

    They refuse it with `TriggerChanged`, `OccurrenceRefused`, `NotAdmitted`.
    """
    values = {
        "id": occurrence.id,
        "tenant_id": trigger.tenant_id,
        "trigger_id": trigger.id,
        "flow_id": trigger.flow_id,
        "key": occurrence.key,
        "due_at": occurrence.due_at,
        "at": at,
        "backfill_id": occurrence.backfill_id,
        "most": occurrence.at_once or policies.limit,
        "rate_runs": policies.rate_runs,
        "rate_since": at - policies.rate_seconds * 1_000_000,
        "again": int(occurrence.is_call),
    }
    return (
        Companion(*hold(trigger, claimed, by_hand=occurrence.by_hand), TriggerChanged),
        Companion(_START_QUEUED if occurrence.is_queued else _INSERT, values, OccurrenceRefused),
        *occurrence.admission,
    )


def row_of(
    trigger: TriggerRow, occurrence: Occurrence, at: int, *, status: str, reason: str = "", message: str = ""
) -> dict[str, Any]:
    """Return the columns of an occurrence that starts no run."""
    return {
        "id": occurrence.id,
        "tenant_id": trigger.tenant_id,
        "trigger_id": trigger.id,
        "occurrence_key": occurrence.key,
        "due_at": occurrence.due_at,
        "created_at": at,
        "status": status,
        "reason": reason,
        "message": message,
        "backfill_id": occurrence.backfill_id,
        "at_once": occurrence.at_once,
    }


def sealed_input(box: Sealer, occurrence: Occurrence) -> bytes:
    """Encrypt the input of an occurrence that waits."""
    content = {
        "input": occurrence.input.model_dump(mode="json"),
        "outside": list(occurrence.outside),
        "source": None if occurrence.source is None else asdict(occurrence.source),
        "depth": occurrence.depth,
        "visitor": occurrence.visitor,
    }
    return seal(box, orjson.dumps(content).decode())


def queued_occurrence(box: Sealer, row: OccurrenceRow, saved: TriggerInput) -> Occurrence:
    """Return an occurrence that waits. One without content has the saved input of its trigger.

    One whose content cannot be read is refused, so that those behind it do not wait for it.
    """
    occurrence = Occurrence(
        row.occurrence_key, saved, row.due_at, id=row.id, is_queued=True, backfill_id=row.backfill_id,
        at_once=row.at_once,
    )  # fmt: skip
    if row.content is None:
        return occurrence
    try:
        content = orjson.loads(unseal(box, row.content))
        source = content.get("source")
        return replace(
            occurrence,
            input=OccurrenceInput.model_validate(content["input"]),
            outside=tuple(content["outside"]),
            source=None if source is None else Source(**source),
            depth=content.get("depth", 0),
            visitor=content.get("visitor"),
        )
    except KeyMissing:  # of all rows: they wait until it is back
        raise
    except (Unavailable, ValueError, KeyError, TypeError) as error:
        log.warning("queued occurrence not readable", occurrence_id=row.id, exc_info=error)
        return replace(occurrence, refusal=TriggerInvalid("The stored input of the occurrence cannot be read."))


def input_with(saved: TriggerInput, **content: Any) -> OccurrenceInput:  # noqa: ANN401 - members of the input
    """Return the saved input with the content of a call, a run or an event. Raises `TriggerInvalid`."""
    try:
        return OccurrenceInput.model_validate(saved.model_dump() | content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in problem["loc"])
        raise TriggerInvalid(
            f"The content is not a valid input of a run: {name}: {problem['msg']}.", remedy="Send other content."
        ) from None
