"""Threads for work whose amount depends on a flow, separate from the event loop's pool.

The loop's pool resolves names, hashes passwords and reads files for all users; flows never use it. Work that may not
end in linear time belongs in a process that can be killed (`headgate.components.isolated`).
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import Final, ParamSpec, TypeVar

PLACES: Final = 4
WAITING_PLACES: Final = 32
LISTENING_PLACES: Final = 20
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def run_in_flow_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call a function in one of these threads and return its result; waits when all are in use."""
    return await _run(_threads(), partial(work, *arguments, **named))


async def wait_in_flow_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call a function that waits for a server, in a thread apart from those that calculate; return its result."""
    return await _run(_waiting_threads(), partial(work, *arguments, **named))


async def listen_in_flow_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call a function that waits for minutes, in one of `LISTENING_PLACES` threads apart from the others."""
    return await _run(_listening_threads(), partial(work, *arguments, **named))


async def _run(threads: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(threads, partial(copy_context().run, work))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(PLACES, thread_name_prefix="flow")


@cache
def _waiting_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WAITING_PLACES, thread_name_prefix="waiting")


@cache
def _listening_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(LISTENING_PLACES, thread_name_prefix="listening")
