"""Threads for work whose amount a flow decides, apart from the event loop's own.

The loop's pool resolves names, hashes passwords and reads files for everybody; a flow never takes a place in it. What
does not end in linear time belongs in a process that can be killed (`headgate.components.isolated`).
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import Final, ParamSpec, TypeVar

PLACES: Final = 4
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def run_in_flow_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call it in one of these threads and give what it gives or raises; waits where all are taken."""
    call = partial(copy_context().run, partial(work, *arguments, **named))
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(PLACES, thread_name_prefix="flow")
