"""Contents of messages: ids only; everything else is in rows."""

from dataclasses import asdict, dataclass

from headgate.features.runs.engine.distributed.lanes import all_lanes
from headgate.features.runs.transitions import RunKey

SEGMENT = "headgate.segment"
"""The task that executes a segment."""
JOIN = "headgate.join"
"""The task between two groups: it does nothing."""
END = "headgate.end"
"""The task that ends a run with a reason."""
RECOVER = "headgate.recover"
"""The task that recovers runs without a worker."""


@dataclass(frozen=True, slots=True)
class Order:
    """Execute the segment that begins with this step."""

    run_id: str
    tenant_id: str
    flow_id: str
    version: int
    head: str
    dispatch: int
    """Number of the run's dispatch that this belongs to, from 1."""

    @property
    def key(self) -> RunKey:
        """The run."""
        return RunKey(self.run_id, self.tenant_id, self.flow_id, self.version)

    @property
    def task_id(self) -> str:
        """The message's id: the same for the same order, so that it can be revoked with only the run known."""
        return f"{self.run_id}:{self.dispatch}:{self.head}"

    def as_kwargs(self) -> dict[str, str | int]:
        """Return the order as a task's arguments."""
        return asdict(self)


def order_for(key: RunKey, head: str, dispatch: int) -> Order:
    """Return the order to execute a segment of a run."""
    return Order(key.run_id, key.tenant_id, key.flow_id, key.version, head, dispatch)


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues of one installation; `lanes` defines the order in which a worker serves them."""

    name: str
    """Prefix of their names."""

    @property
    def upkeep(self) -> str:
        """Queue of recovery, ends and scheduled jobs: short tasks that never wait behind runs."""
        return f"{self.name}.upkeep"

    def begun(self, lane: str) -> str:
        """Further segments of started runs, and redispatches: they precede first segments of the lane."""
        return f"{self.name}.begun.{lane}"

    def first(self, lane: str, priority: int = 0) -> str:
        """First segments: where runs wait, in the queue of a high, normal or low priority."""
        return f"{self.name}.{'high' if priority > 0 else 'low' if priority < 0 else 'first'}.{lane}"

    def all_first(self, lane: str) -> list[str]:
        """All queues of first segments of a lane."""
        return [self.first(lane, priority) for priority in (1, 0, -1)]

    @property
    def names(self) -> list[str]:
        """All queue names."""
        return [self.upkeep, *(name for lane in all_lanes() for name in (self.begun(lane), *self.all_first(lane)))]
