"""Opens Headgate's parts for one command, in this process: no server is needed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from headgate.entrypoints.compose import Parts, open_parts
from headgate.features.access.principal import LOCAL, Principal
from headgate.foundation.log import configure
from headgate.foundation.settings import LogSettings, Settings

T = TypeVar("T")
PRINCIPAL: Principal = LOCAL
"""Commands act as the local user."""


def with_parts(work: Callable[[Parts], Awaitable[T]], settings: Settings | None = None) -> T:
    """Open the parts, do the work, close them. Logs stay quiet unless HEADGATE_LOG__LEVEL asks for more."""
    found = settings or Settings()
    level = found.log.level if "level" in found.log.model_fields_set else "error"
    configure(LogSettings(level=level, format=found.log.format))

    async def session() -> T:
        async with open_parts(found) as parts:
            return await work(parts)

    return asyncio.run(session())
