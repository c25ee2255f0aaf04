"""A plan, or what is left of one, as a Celery canvas: chains, groups and chords of ids."""

from collections.abc import Container, Iterator
from itertools import pairwise

from celery import Celery, chain, group
from celery.canvas import Signature

from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import JOIN, RECOVER, SEGMENT, Queues, order_for
from headgate.features.runs.engine.distributed.segments import (
    Parallel,
    Segment,
    Series,
    Shape,
    arrange,
    leading,
    members,
    split,
)
from headgate.features.runs.transitions import RunKey
from headgate.graph.plan import Plan


class FlowCompiler:
    """Turns plans into canvases.

    Args:
        app: Whose tasks they are.
        queues: Where they go.
        limits: How long each may take.
        lanes: Most steps of one run at once.
    """

    def __init__(self, app: Celery, queues: Queues, limits: TaskLimits, lanes: int) -> None:
        self._app = app
        self._queues = queues
        self._limits = limits
        self._lanes = lanes

    def compile(
        self, key: RunKey, plan: Plan, dispatch: int, settled: Container[str] = (), *, lane: str, begun: bool
    ) -> Signature:
        """The canvas of a run's remainder; where nothing is left, one task that ends the run.

        Args:
            key: The run.
            plan: Its plan.
            dispatch: Number of this sending.
            settled: Steps that are done or skipped.
            lane: Where its messages wait.
            begun: Whether the run has begun, so that it goes before those that have not.
        """
        shape = self.shape(plan, settled)
        first = () if begun else frozenset(one.head for one in leading(shape))
        # Only chords need results; everything else is told by rows.
        keep = not isinstance(shape, Segment) and any(isinstance(part, Parallel) for part in _parts(shape))
        writer = _Writer(self._app, self._queues, self._limits, key, dispatch, lane=lane, first=first, keep=keep)
        return writer.write(shape)

    def shape(self, plan: Plan, settled: Container[str] = ()) -> Shape:
        """What of the remainder may run beside what."""
        left = split(plan, self._limits.longest, settled) or (Segment((plan.steps[-1].id,)),)
        return arrange(plan, left, self._lanes)

    def task_ids(self, key: RunKey, plan: Plan, dispatch: int, settled: Container[str] = ()) -> list[str]:
        """The ids of the messages of a sending that are still of use."""
        return [order_for(key, one.head, dispatch).task_id for one in members(self.shape(plan, settled))]


class _Writer:
    """Writes one canvas."""

    def __init__(
        self,
        app: Celery,
        queues: Queues,
        limits: TaskLimits,
        key: RunKey,
        dispatch: int,
        *,
        lane: str,
        first: Container[str],
        keep: bool,
    ) -> None:
        self._app = app
        self._queues = queues
        self._limits = limits
        self._key = key
        self._dispatch = dispatch
        self._lane = lane
        self._first = first
        self._keep = keep

    def write(self, shape: Shape) -> Signature:
        """The canvas of a shape."""
        if isinstance(shape, Segment):
            return self._task(shape)
        if isinstance(shape, Parallel):
            return group([self.write(part) for part in shape.parts], app=self._app)
        return chain(*self._links(shape), app=self._app)

    def _links(self, series: Series) -> Iterator[Signature]:
        """The parts of a series. What follows a group joins it, and so two groups have a task between them."""
        yield self.write(series.parts[0])
        for before, part in pairwise(series.parts):
            joins = isinstance(before, Parallel)
            if joins and isinstance(part, Parallel):
                yield self._joining(self._sign(JOIN, {}))
            written = self.write(part)
            yield self._joining(written) if joins and isinstance(part, Segment) else written

    def _task(self, segment: Segment) -> Signature:
        order = order_for(self._key, segment.head, self._dispatch)
        steps = len(segment.steps)
        return self._sign(
            SEGMENT,
            order.as_kwargs(),
            task_id=order.task_id,
            queue=(self._queues.first if segment.head in self._first else self._queues.begun)(self._lane),
            soft_time_limit=self._limits.soft(steps),
            time_limit=self._limits.hard(steps),
        )

    def _joining(self, task: Signature) -> Signature:
        """The task with what happens when the branches before it cannot be joined: the rows are looked at.

        A branch that failed has failed its run already; a queue that lost its memory has not, and the run goes on.
        """
        task.link_error(self._app.signature(RECOVER, immutable=True, queue=self._queues.upkeep))
        return task

    def _sign(self, name: str, kwargs: dict[str, str | int], **options: object) -> Signature:
        options.setdefault("queue", self._queues.begun(self._lane))
        return self._app.signature(
            name, kwargs=kwargs, immutable=True, options={**options, "ignore_result": not self._keep}
        )


def _parts(shape: Shape) -> Iterator[Shape]:
    yield shape
    if not isinstance(shape, Segment):
        for part in shape.parts:
            yield from _parts(part)
