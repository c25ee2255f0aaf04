"""The operation that lists what needs a human."""

from typing import NotRequired

from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.attention.schemas import AttentionItem
from headgate.features.attention.service import list_attention as attention_of
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_LISTED = 30


class AttentionLine(TypedDict):
    """Something that needs a human; what happens again is one line with a count."""

    kind: str
    name: NotRequired[str]
    count: int
    code: NotRequired[str]
    message: NotRequired[str]
    last_at: NotRequired[str]
    since_release: NotRequired[int]
    """First published release that failed like this."""
    flow_id: NotRequired[str]
    run_id: NotRequired[str]
    """The latest run."""


class AttentionList(TypedDict):
    """What needs a human, the latest first."""

    items: list[AttentionLine]
    more: NotRequired[str]


async def list_attention(visit: Visit) -> AttentionList:
    """List what needs a human: failed or stuck runs, deliveries, stopped triggers, connections, approvals, alerts."""
    async with visit.studio.database.reading() as session:
        attention = await attention_of(session, visit.principal)
    answer: AttentionList = {"items": [_line(item) for item in attention.items[:MOST_LISTED]]}
    if len(attention.items) > MOST_LISTED:
        answer["more"] = f"{len(attention.items) - MOST_LISTED} more items are listed on the page Observe."
    return answer


def _line(item: AttentionItem) -> AttentionLine:
    line: AttentionLine = {"kind": item.kind, "count": item.count}
    if item.name:
        line["name"] = item.name
    if item.code:
        line["code"] = item.code
    if item.message:
        line["message"] = item.message
    if item.last_at is not None:
        line["last_at"] = item.last_at.isoformat(timespec="seconds")
    if item.since_release is not None:
        line["since_release"] = item.since_release
    if item.flow_id is not None:
        line["flow_id"] = item.flow_id
    if item.run_id is not None:
        line["run_id"] = item.run_id
    return line


OPERATIONS: tuple[Row, ...] = ((list_attention, Permission.RUNS_VIEW, "read"),)
