"""What a message says: ids, and nothing that a row knows better."""

from dataclasses import asdict, dataclass

from headgate.features.runs.engine.distributed.lanes import all_lanes
from headgate.features.runs.transitions import RunKey

SEGMENT = "headgate.segment"
"""The task that carries a segment out."""
JOIN = "headgate.join"
"""The task between two groups: it does nothing."""
END = "headgate.end"
"""The task that ends a run with a reason."""
RECOVER = "headgate.recover"
"""The task that looks for runs that were left."""


@dataclass(frozen=True, slots=True)
class Order:
    """Carry out the segment that begins with this step."""

    run_id: str
    tenant_id: str
    flow_id: str
    version: int
    head: str
    dispatch: int
    """Which sending of the run this belongs to, from 1."""

    @property
    def key(self) -> RunKey:
        """The run."""
        return RunKey(self.run_id, self.tenant_id, self.flow_id, self.version)

    @property
    def task_id(self) -> str:
        """The message's id: the same for the same order, so that it can be revoked by whoever knows the run."""
        return f"{self.run_id}:{self.dispatch}:{self.head}"

    def as_kwargs(self) -> dict[str, str | int]:
        """The order as a task's arguments."""
        return asdict(self)


def order_for(key: RunKey, head: str, dispatch: int) -> Order:
    """The order to carry out a segment of a run."""
    return Order(key.run_id, key.tenant_id, key.flow_id, key.version, head, dispatch)


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues of one installation; `lanes` says in which order a worker takes from them."""

    name: str
    """What their names begin with."""

    @property
    def upkeep(self) -> str:
        """Recovery, ends, scheduled jobs: short, and never behind runs that wait."""
        return f"{self.name}.upkeep"

    def begun(self, lane: str) -> str:
        """Further segments of runs that have begun, and what is sent again: they go before first ones of the lane."""
        return f"{self.name}.begun.{lane}"

    def first(self, lane: str) -> str:
        """First segments: where runs wait."""
        return f"{self.name}.first.{lane}"

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [self.upkeep, *(name for lane in all_lanes() for name in (self.begun(lane), self.first(lane)))]
