"""Which space a run is of: its flow's."""

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
    """Which space each flow is in."""

    async def of(self, tenant_id: str, flow_id: str) -> str:
        """The id of a flow's space, of a deleted flow too. Raises `NotFound`."""
        ...


async def share_of(spaces: Spaces, key: RunKey, user_id: str | None) -> Share:
    """For whom a run is executed. Of a flow that is gone: the tenant."""
    try:
        return Share(key.tenant_id, await spaces.of(key.tenant_id, key.flow_id), user_id or "")
    except NotFound:
        return Share(key.tenant_id)


class FlowSpaces:
    """Spaces of flows, from the database. A flow never leaves its space, so what was read once is kept.

    Args:
        database: Where the flows are.
        most: How many are kept; the one asked for longest ago goes first.
    """

    def __init__(self, database: Database, most: int = MOST_KEPT) -> None:
        self._database = database
        self._most = most
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def of(self, tenant_id: str, flow_id: str) -> str:
        """The id of a flow's space, of a deleted flow too. Raises `FlowNotFound`."""
        key = tenant_id, flow_id
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        async with self._database.reading() as session:
            found = await flows.space_of(session, flow_id, tenant_id=tenant_id)
        self._kept[key] = found
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return found
