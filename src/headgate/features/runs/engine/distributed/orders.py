"""What a message says: ids, and nothing that a row knows better."""

from dataclasses import asdict, dataclass

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
    """The queues of one installation, in the order in which a worker takes from them."""

    begun: str
    """Further segments of runs that have begun, and what is sent again: runs are finished before others begin."""
    upkeep: str
    """Recovery, ends, scheduled jobs: short, and never behind runs that wait."""
    first: str
    """First segments: where runs wait."""

    @property
    def names(self) -> tuple[str, str, str]:
        """All of them."""
        return self.upkeep, self.begun, self.first


def queues_of(name: str) -> Queues:
    """The queues whose names begin with `name`."""
    return Queues(begun=f"{name}.begun", upkeep=f"{name}.upkeep", first=name)
