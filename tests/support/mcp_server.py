"""Starts the real MCP server of `mcp_process` and gives its address or command."""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.forked import fork
from tests.support.open_python import ROOT, command_of

COMMAND = command_of("tests.support.mcp_process", "stdio")
"""The same server as a program, for any user."""
ACCESS = {"read": [str(ROOT), sys.prefix]}
"""What it must read; the operator's `program_folders` must contain it."""


class McpProcess:
    """`with McpProcess(tally) as server: server.url`."""

    def __init__(
        self, tally: Path, mode: str = "", *, port: int = 0, json_response: bool = False, lifetime: int = 3600
    ) -> None:
        self.tally = tally
        self.mode = mode
        self._port = port
        self._environment = {
            **os.environ,
            "MCP_TALLY": str(tally),
            "MCP_MODE": mode,
            "MCP_JSON": "1" if json_response else "0",
            "MCP_LIFETIME": str(lifetime),
        }

    def __enter__(self) -> Self:
        self._process = fork("tests.support.mcp_process", "http", str(self._port), environment=self._environment)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def calls(self) -> list[str]:
        """What reached the server."""
        return self.tally.read_text(encoding="utf-8").splitlines() if self.tally.exists() else []
