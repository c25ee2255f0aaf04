"""The list of flows for users."""

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import spaces_shown
from headgate.features.catalog.registry import Components
from headgate.features.flows.organization.filters import EVERY_FLOW, FlowFilter
from headgate.features.flows.organization.service import Places, places_of
from headgate.features.flows.readiness.check import check
from headgate.features.flows.rules import FlowRules
from headgate.features.runs.listing import repository
from headgate.features.runs.listing.repository import Place
from headgate.features.runs.listing.schemas import MOST_SKETCHED, FlowItem, LastRun, Sketch, SketchNode, SortKey
from headgate.foundation.database import microseconds, moment
from headgate.foundation.errors import Invalid
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.ids import is_id
from headgate.foundation.shaped import shaped
from headgate.graph.model import Flow
from headgate.graph.own_code import own_codes


async def list_flows(
    session: AsyncSession,
    principal: Principal,
    rules: FlowRules,
    *,
    space_id: str | None = None,
    search: str = "",
    flow_filter: FlowFilter = EVERY_FLOW,
    sort: SortKey = "created",
    limit: int = 50,
    cursor: str | None = None,
) -> tuple[Sequence[FlowItem], str | None]:
    """Return a page of the flows that the caller may read, and the next cursor. Raises `SpaceNotFound`, `Invalid`."""
    position = place_of(sort, cursor)
    rows = await repository.list_flows(
        session,
        tenant_id=principal.tenant_id,
        space_ids=await spaces_shown(session, principal, space_id, Permission.FLOWS_VIEW),
        search=search,
        flow_filter=flow_filter,
        sort=sort,
        limit=limit + 1,
        position=position,
    )
    page = rows[:limit]
    flows = [Flow.model_validate(row.draft | {"name": row.name, "description": row.description}) for row in page]
    catalog = await _catalog_of(session, principal, rules.catalog, flows)
    spaces = dict.fromkeys(row.space_id for row in page)
    offered = {space_id: await rules.environment(principal.tenant_id, space_id, session=session) for space_id in spaces}
    problems = await run_in_flow_thread(
        lambda: [
            len(check(flow, catalog, offered[row.space_id]).errors) if flow.nodes else 0
            for row, flow in zip(page, flows, strict=True)
        ]
    )
    places = await places_of(session, principal, [row.id for row in page])
    items = [_item(*columns, principal=principal, places=places) for columns in zip(page, flows, problems, strict=True)]
    return items, cursor_of(sort, page[-1]) if len(rows) > limit else None


async def _catalog_of(
    session: AsyncSession, principal: Principal, catalog: Components, flows: Sequence[Flow]
) -> Components:
    """Return one catalog for the page: its custom components are looked up together."""
    nodes = tuple(node for flow in flows for node in flow.nodes if node.code is not None)
    together = Flow.model_construct(nodes=nodes, edges=())
    return await catalog.for_flow(principal.tenant_id, together, session=session) if own_codes(together) else catalog


def _item(
    row: Any,  # noqa: ANN401 - a row
    flow: Flow,
    problems: int,
    *,
    principal: Principal,
    places: Places,
) -> FlowItem:
    ran = row.run_id is not None and principal.may(Permission.RUNS_VIEW, row.space_id)
    return shaped(
        FlowItem,
        row,
        changed_since=row.published_version is not None and row.draft_version != row.published_version,
        problems=problems,
        steps=len(flow.nodes),
        icon=flow.settings.icon,
        tags=places.tags.get(row.id, []),
        favourite=row.id in places.favourites,
        last_run=_run(row) if ran else None,
        sketch=_sketch(flow),
    )


def _run(row: Any) -> LastRun:  # noqa: ANN401 - a row
    took = row.run_started_at is not None and row.run_finished_at is not None
    return LastRun(
        id=row.run_id,
        status=row.run_status,
        version=row.run_version,
        created_at=moment(row.run_created_at),
        finished_at=None if row.run_finished_at is None else moment(row.run_finished_at),
        ms=(row.run_finished_at - row.run_started_at) / 1000 if took else None,
    )


def _sketch(flow: Flow) -> Sketch | None:
    if len(flow.nodes) > MOST_SKETCHED:
        return None
    nodes = [SketchNode(id=node.id, type=node.type, label=node.label, position=node.position) for node in flow.nodes]
    return Sketch(nodes=nodes, edges=list(flow.edges))


_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def cursor_of(sort: SortKey, row: Any) -> str:  # noqa: ANN401 - a row
    """Return the cursor after a flow."""
    if sort == "name":
        return f"{base64.urlsafe_b64encode(row.lowered.encode()).decode()}.{row.id}"
    if sort == "updated":
        return f"{microseconds(row.updated_at)}.{row.id}"
    return str(row.id)


def place_of(sort: SortKey, cursor: str | None) -> Place | None:
    """Return the position of a cursor. Raises `Invalid`."""
    if cursor is None:
        return None
    value, _, flow_id = cursor.rpartition(".")
    if not is_id(flow_id) or bool(value) != (sort != "created"):
        raise _unknown()
    try:
        return _value(sort, value), flow_id
    except (ValueError, OverflowError, binascii.Error) as error:
        raise _unknown() from error


def _value(sort: SortKey, value: str) -> datetime | str | None:
    if sort == "updated":
        return _BEGIN + timedelta(microseconds=int(value[:18]))
    if sort == "name":
        decoded = base64.urlsafe_b64decode(value.encode()).decode()
        if "\0" in decoded:
            raise ValueError(value)
        return decoded
    return None


def _unknown() -> Invalid:
    return Invalid("Invalid cursor.", remedy="Omit it to start at the first page.")
