"""An event loop without a real clock, real threads or real I/O, shared by all simulated processes.

Inside one process callbacks run in the order in which they were scheduled, as asyncio promises. Which process goes
next, how late a timer is and how long work in a thread takes is drawn from the seed.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from heapq import heappop
from itertools import count
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

LATEST_TIMER_SECONDS = 0.004
THREAD_SECONDS = 0.01
"""How long work in a thread takes, mostly."""
SLOW_THREAD_SECONDS = 0.4
"""How long it takes sometimes."""


class ProcessKilled(BaseException):
    """What runs in a process that has just died."""


class Stuck(Exception):
    """Nothing is left that could happen."""


class MachineClock:
    """The wall clock of a machine: every process on it reads the same one, also one that starts later."""

    def __init__(self) -> None:
        self.offset = 0.0
        """Seconds by which it is wrong."""


class Process:
    """One process of the simulated machines."""

    def __init__(self, name: str, clock: MachineClock) -> None:
        self.name = name
        self.clock = clock
        self.alive = True
        self.stopped_until = 0.0
        """Until when it is stopped (SIGSTOP), in seconds of the loop."""
        self.statements = 0
        """Statements that it has executed."""
        self.at_death: list[Callable[[], None]] = []
        """What the system does when it dies: closes files and connections."""

    def kill(self) -> None:
        """End at once: nothing of it runs any more, and what it had open is closed."""
        self.alive = False
        for close in self.at_death:
            close()


WORLD = Process("world", MachineClock())
"""Clients and the simulator itself; it never dies."""
CURRENT: "contextvars.ContextVar[Process]" = contextvars.ContextVar("process", default=WORLD)


class _Task(asyncio.Task[Any]):
    """A task whose place in a set depends on the seed and not on its address."""

    _log_destroy_pending: bool

    def __init__(self, *args: Any, number: int, process: Process, **more: Any) -> None:
        self._number = number
        self.process = process
        super().__init__(*args, **more)

    def __hash__(self) -> int:
        return self._number


class _Future(asyncio.Future[Any]):
    """The same for a future."""

    def __init__(self, *, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self._number = number
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number


class SimulatedLoop(asyncio.BaseEventLoop):
    """The loop of every simulated process.

    Args:
        random: Draws which process goes next and how long things take.
        on_error: Called with what nobody caught in a process that lives.
    """

    _ready: "deque[asyncio.Handle]"
    _scheduled: "list[asyncio.TimerHandle]"

    def __init__(self, random: Random, on_error: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._random = random
        self._now = 0.0
        self._queues: dict[Process, deque[asyncio.Handle]] = {}
        self._free_at: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        """When an executor of one thread is free again; a later one may have the address of one that is gone."""
        self._numbers = count()
        self.tasks: list[_Task] = []
        """Every task, so that none is collected, and with it ended, before the simulation is over."""
        self.callbacks = 0
        self.set_exception_handler(lambda _loop, context: self._caught(context, on_error))

    def time(self) -> float:
        """Seconds since the simulation began."""
        return self._now

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Schedule a timer, which is never early and may be a little late."""
        late = self._random.random() * LATEST_TIMER_SECONDS
        return super().call_at(max(when, self._now) + late, callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        """A future."""
        return _Future(number=next(self._numbers), loop=self)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run a function as if in a thread: atomically, at a later time. Functions of one thread run in sequence."""
        future = self.create_future()

        def work() -> None:
            if future.cancelled():
                return
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to who asked
                if not future.cancelled():
                    future.set_exception(error)
            else:
                if not future.cancelled():
                    future.set_result(result)

        began = self._now
        single = executor is not None and getattr(executor, "_max_workers", 0) == 1
        if single:
            began = max(began, self._free_at.get(executor, 0.0))
        slow = self._random.random() < 0.02
        ended = began + self._random.random() * (SLOW_THREAD_SECONDS if slow else THREAD_SECONDS)
        if single:
            self._free_at[executor] = ended + LATEST_TIMER_SECONDS
        self.call_at(ended, work)
        return future

    def forget(self, process: Process) -> None:
        """Drop what a dead process had scheduled."""
        self._queues.pop(process, None)

    def create_task(self, coro: Any, *, name: object = None, context: Any = None) -> asyncio.Task[Any]:
        """A task. It belongs to the process in whose context it runs."""
        process = CURRENT.get() if context is None else context.get(CURRENT, WORLD)
        task = _Task(coro, loop=self, name=name, context=context, number=next(self._numbers), process=process)
        self.tasks.append(task)
        return task

    def leave_tasks(self) -> None:
        """The simulation is over: nobody is to complain of what did not end."""
        for task in self.tasks:
            task._log_destroy_pending = False

    def _caught(self, context: dict[str, Any], on_error: Callable[[dict[str, Any]], None]) -> None:
        if CURRENT.get().alive and not isinstance(context.get("exception"), ProcessKilled):
            on_error(context)

    def _run_once(self) -> None:
        """Run one callback of one process; when nobody has any, move the clock on."""
        self._sort()
        runnable = [one for one, queue in self._queues.items() if queue and one.stopped_until <= self._now]
        if not runnable:
            self._advance()
            return
        process = runnable[0] if len(runnable) == 1 else self._random.choice(runnable)
        handle = self._queues[process].popleft()
        self.callbacks += 1
        if not handle.cancelled() and process.alive:
            handle._run()

    def _sort(self) -> None:
        while self._scheduled and self._scheduled[0].when() <= self._now:
            timer = heappop(self._scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(timer)
        while self._ready:
            handle = self._ready.popleft()
            process = handle._context.get(CURRENT, WORLD)  # type: ignore[attr-defined]
            if process.alive:
                self._queues.setdefault(process, deque()).append(handle)

    def _advance(self) -> None:
        moments = [one.stopped_until for one, queue in self._queues.items() if queue]
        while self._scheduled and (self._scheduled[0].cancelled() or not _of_living(self._scheduled[0])):
            heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]
        if self._scheduled:
            moments.append(self._scheduled[0].when())
        if not moments:
            raise Stuck
        self._now = max(self._now, min(moments))

    def _process_events(self, event_list: Any) -> None:
        """There is no I/O."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""


def _of_living(timer: asyncio.TimerHandle) -> bool:
    return bool(timer._context.get(CURRENT, WORLD).alive)  # type: ignore[attr-defined]
