"""Sessions that end while they begin."""

import asyncio
from typing import Any, cast

import psutil
import pytest

from headgate.features.mcptools.protocol import Session
from headgate.features.mcptools.target import Target
from headgate.foundation.settings import McpSettings
from tests.support.patience import PATIENCE_SECONDS

MARK = "silent-mcp-server"
COMMAND = ("sh", "-c", "sleep 120; exit", MARK)


def programs() -> list[psutil.Process]:
    """The programs of this test that run."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE and MARK in child.cmdline()
    ]


async def test_a_step_that_is_cancelled_leaves_no_program() -> None:
    session = Session(Target("silent", "stdio", command=COMMAND), cast("Any", None), McpSettings(allow_stdio=True))
    opening = asyncio.create_task(session.open())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not programs():  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert (session.is_open, programs()) == (False, [])
