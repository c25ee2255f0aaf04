"""Spaces of runs, which are those of their flows."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.errors import NotFound
from headgate.foundation.fair_places import Share
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.flows import service as flows
else:
    flows = lazy_module("headgate.features.flows.service")

MOST_KEPT = 4096


class Spaces(Protocol):
    """The space of each flow."""

    async def of(self, tenant_id: str, flow_id: str) -> str:
        """Return the id of a flow's space, also for a deleted flow. Raises `NotFound`."""


async def share_of(spaces: Spaces, key: RunKey, user_id: str | None) -> Share:
    """Return tenant, space and user of a run; for a removed flow only the tenant."""
    try:
        return Share(key.tenant_id, await spaces.of(key.tenant_id, key.flow_id), user_id or "")
    except NotFound:
        return Share(key.tenant_id)


class FlowSpaces:
    """Spaces of flows, from the database. A flow never changes its space, so results are cached.

    Args:
        database: Holds the flows.
        most: Size of the cache; the least recently used entry is evicted.
    """

    def __init__(self, database: Database, most: int = MOST_KEPT) -> None:
        self._database = database
        self._most = most
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def of(self, tenant_id: str, flow_id: str) -> str:
        """Return the id of a flow's space, also for a deleted flow. Raises `FlowNotFound`."""
        key = tenant_id, flow_id
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        async with self._database.reading() as session:
            space_id = await flows.space_of(session, flow_id, tenant_id=tenant_id)
        self._kept[key] = space_id
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return space_id
