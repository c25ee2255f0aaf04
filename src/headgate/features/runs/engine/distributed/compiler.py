"""Compiles a plan, or its remainder, to a Celery canvas: chains, groups and chords of ids."""

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
    """Compiles plans to canvases.

    Args:
        app: The application of the tasks.
        queues: The queues to send to.
        limits: Time limits of tasks.
        lanes: Most parallel steps of one run.
    """

    def __init__(self, app: Celery, queues: Queues, limits: TaskLimits, lanes: int) -> None:
        self._app = app
        self._queues = queues
        self._limits = limits
        self._lanes = lanes

    def compile(
        self,
        key: RunKey,
        plan: Plan,
        dispatch: int,
        settled: Container[str] = (),
        *,
        lane: str,
        started: bool,
        priority: int = 0,
    ) -> Signature:
        """Return the canvas of a run's remainder; if it is empty, one task that ends the run.

        Args:
            key: The run.
            plan: Its plan.
            dispatch: Sequence number of this dispatch.
            settled: Steps that are done or skipped.
            lane: The lane of its messages.
            started: Whether the run has started; started runs go before others.
            priority: Its priority among those that have not.
        """
        shape = self.shape(plan, settled)
        first = () if started else frozenset(segment.head for segment in leading(shape))
        # Only chords need results; all other state is in rows.
        keep_results = not isinstance(shape, Segment) and any(isinstance(part, Parallel) for part in _parts(shape))
        writer = _Writer(
            self._app,
            self._queues,
            self._limits,
            key,
            dispatch,
            lane=lane,
            first=first,
            priority=priority,
            keep_results=keep_results,
        )
        return writer.write(shape)

    def shape(self, plan: Plan, settled: Container[str] = ()) -> Shape:
        """Return which parts of the remainder may run in parallel."""
        segments = split(plan, self._limits.longest, settled) or (Segment((plan.steps[-1].id,)),)
        return arrange(plan, segments, self._lanes)

    def task_ids(self, key: RunKey, plan: Plan, dispatch: int, settled: Container[str] = ()) -> list[str]:
        """Return the ids of the messages of a dispatch that are still needed."""
        return [order_for(key, segment.head, dispatch).task_id for segment in members(self.shape(plan, settled))]


class _Writer:
    """Builds one canvas."""

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
        priority: int,
        keep_results: bool,
    ) -> None:
        self._app = app
        self._queues = queues
        self._limits = limits
        self._key = key
        self._dispatch = dispatch
        self._lane = lane
        self._first = first
        self._priority = priority
        self._keep = keep_results

    def write(self, shape: Shape) -> Signature:
        """Return the canvas of a shape."""
        if isinstance(shape, Segment):
            return self._task(shape)
        if isinstance(shape, Parallel):
            return group([self.write(part) for part in shape.parts], app=self._app)
        return chain(*self._links(shape), app=self._app)

    def _links(self, series: Series) -> Iterator[Signature]:
        """Return the parts of a series. What follows a group joins it, so two groups have a task between them."""
        yield self.write(series.parts[0])
        for previous, part in pairwise(series.parts):
            joins = isinstance(previous, Parallel)
            if joins and isinstance(part, Parallel):
                yield self._joining(self._sign(JOIN, {}))
            signature = self.write(part)
            yield self._joining(signature) if joins and isinstance(part, Segment) else signature

    def _task(self, segment: Segment) -> Signature:
        order = order_for(self._key, segment.head, self._dispatch)
        steps = len(segment.steps)
        return self._sign(
            SEGMENT,
            order.as_kwargs(),
            task_id=order.task_id,
            queue=self._queues.first(self._lane, self._priority)
            if segment.head in self._first
            else self._queues.begun(self._lane),
            soft_time_limit=self._limits.soft(steps),
            time_limit=self._limits.hard(steps),
        )

    def _joining(self, task: Signature) -> Signature:
        """Return the task with an error callback for branches that cannot be joined: it checks the rows.

        A failed branch has failed its run already. After a queue lost its memory the run continues.
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
