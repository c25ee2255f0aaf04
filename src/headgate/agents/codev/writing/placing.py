"""One write to a place, made once however often its answer is lost."""

from headgate.agents.codev.domain import Change, Held, Workplace
from headgate.agents.codev.errors import WriteConflict
from headgate.foundation.errors import HeadgateError, NotFound

MOST_LINES = 200
"""Lines of a comparison, or faults, that are shown."""
UNKNOWN = frozenset({408, 429, 499, 500, 502, 503, 504})
"""Statuses of our errors after which a write may have been made all the same; after any other nothing was written."""


async def placed(
    place: Workplace, change: Change, before: Held | None, token: str, after_mark: str, *, known: bool
) -> Held:
    """Write a change, once.

    Args:
        place: Where.
        change: What.
        before: The flow as it must be before; None to make one.
        token: Names the write.
        after_mark: The flow's mark when it was written.
        known: Whether it was certainly not made yet; otherwise the place is asked first.

    Raises `WriteConflict` when the flow is neither what it was before nor what it would be after; what the place raises
    when it refuses; an error with a status of `UNKNOWN` when it cannot be found out.
    """
    if not known:
        held = await find_placed(place, change, before, token, after_mark)
        if held is not None:
            return held
    try:
        return await _write(place, change, before, token, after_mark)
    except HeadgateError as error:
        if error.status not in UNKNOWN:
            raise
    held = await find_placed(place, change, before, token, after_mark)
    return held if held is not None else await _write(place, change, before, token, after_mark)


async def _write(place: Workplace, change: Change, before: Held | None, token: str, after_mark: str) -> Held:
    """Write. A conflict is none where a process that held the session before made this same write just now."""
    try:
        return await place.write(change, before, token)
    except WriteConflict:
        held = await find_placed(place, change, before, token, after_mark) if before is not None else None
        if held is None:
            raise
        return held


async def find_placed(
    place: Workplace, change: Change, before: Held | None, token: str, after_mark: str
) -> Held | None:
    """The flow as the write left it; None when it was not made. Raises `WriteConflict` when it is neither."""
    if before is None:
        return await place.find_written(token)
    now = await place.read(before.flow_id)
    if now.mark == after_mark and (after_mark != before.mark or change.name in ("", now.name)):
        return now
    if now.mark == before.mark:
        return None
    raise WriteConflict(now.name)


async def removed(place: Workplace, flow_id: str, mark: str) -> None:
    """Remove a flow, once."""
    try:
        await place.remove(flow_id, mark)
    except NotFound:
        return
    except HeadgateError as error:
        if error.status not in UNKNOWN:
            raise
    else:
        return
    try:
        await place.read(flow_id)
    except NotFound:
        return
    await place.remove(flow_id, mark)
