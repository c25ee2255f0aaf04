"""The MCP server: start and first search, a 12-node flow in one request, and how large the answers are.

The official client speaks to a real `headgate serve` over HTTP, and to a `headgate mcp serve` that it starts itself.

    python -m benchmarks.mcp [--quick | --smoke] [--json FILE]
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.measure import Report, arguments
from benchmarks.serving import serving
from benchmarks.startup import free_port

HEADGATE = str(Path(sys.executable).with_name("headgate"))
STEPS = 10
SPEC = "\n".join(
    [
        "name: Twelve",
        "nodes:",
        "  heard: ChatInput",
        *(f'  step{number}: PromptTemplate\n    template: "{{text}} and {number}"' for number in range(STEPS)),
        "  said: ChatOutput",
        "edges:",
        "  heard.text -> step0.text",
        *(f"  step{number}.text -> step{number + 1}.text" for number in range(STEPS - 1)),
        f"  step{STEPS - 1}.text -> said.input",
    ]
)
SEARCH = {"query": "read a web page and summarise it"}


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    rounds = options.choose(10, 3, 1)
    report = Report("MCP server", ("what", "how", "median", "best", "aim", "answer"))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_over_stdio(report, folder, rounds=options.choose(3, 2, 1)))
    with tempfile.TemporaryDirectory() as folder:
        port, began = free_port(), time.perf_counter()
        command = [HEADGATE, "serve", "--port", str(port)]
        with serving(command, {"HEADGATE_DATA_DIR": folder, "HEADGATE_LOG__LEVEL": "error"}, port, "/health"):
            asyncio.run(_over_http(report, f"http://127.0.0.1:{port}/mcp", began, rounds))
    report.finish(options, picture="mcp.png")


async def _over_http(report: Report, url: str, began: float, rounds: int) -> None:
    started = time.perf_counter() - began
    async with Client(url, cache=None) as client:
        found = await client.call_tool("search_components", SEARCH)
        _row(report, "server start", "headgate serve", [started], None, "")
        _row(report, "start and first search", "HTTP", [time.perf_counter() - began], 1.0, _size(found))
    for mode in ("auto", "legacy"):
        async with Client(url, mode=mode, cache=None) as client:
            how = f"HTTP, {client.protocol_version}"
            took, found = await _timed(client, "search_components", SEARCH, rounds)
            _row(report, "a search", how, took, None, _size(found))
            took, found = await _timed(client, "create_flow_from_spec", {"spec": SPEC}, rounds)
            _row(report, "12-node flow, 1 request", how, took, 0.05, _size(found))
            flow: Any = found.structured_content
            took, found = await _timed(
                client, "add_component", {"flow_id": flow["flow_id"], "component_type": "ChatOutput"}, rounds
            )
            _row(report, "add a component", how, took, None, _size(found))
    async with Client(url, cache=None) as client:
        tools = (await client.list_tools()).tools
        size = sum(len(tool.model_dump_json(exclude_none=True, by_alias=True)) for tool in tools)
        report.add("list of tools", f"{len(tools)} tools", "", "", "", f"{size / 1000:.1f} KB", values={"bytes": size})


async def _over_stdio(report: Report, folder: str, rounds: int) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    program = StdioServerParameters(
        command=HEADGATE, args=["mcp", "serve"], env=environment | {"HEADGATE_DATA_DIR": folder}
    )
    took, found = [], None
    for _ in range(rounds):
        began = time.perf_counter()
        async with Client(stdio_client(program), cache=None) as client:
            found = await client.call_tool("search_components", SEARCH)
            took.append(time.perf_counter() - began)
    _row(report, "start and first search", "headgate mcp serve", took, 1.0, _size(found))


async def _timed(client: Any, tool: str, given: dict[str, Any], rounds: int) -> tuple[list[float], Any]:
    took, found = [], None
    for _ in range(rounds + 1):
        began = time.perf_counter()
        found = await client.call_tool(tool, given)
        took.append(time.perf_counter() - began)
        if found.is_error:
            raise RuntimeError(str(found.content))
    return took[1:], found


def _row(  # noqa: PLR0917 - the cells of a row
    report: Report, what: str, how: str, took: list[float], aim: float | None, size: str
) -> None:
    middle = statistics.median(took)
    report.add(
        what,
        how,
        _time(middle),
        _time(min(took)),
        _time(aim) if aim else "",
        size,
        values={"how": how, "seconds": middle, "best": min(took)},
        bar=(f"{what}\n{how}", middle / aim) if aim else None,
    )


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _size(found: Any) -> str:
    text = sum(len(part.text) for part in found.content)
    whole = len(found.model_dump_json(exclude_none=True, by_alias=True))
    return f"{text / 1000:.1f} KB text, {whole / 1000:.1f} KB in all"


if __name__ == "__main__":
    main()
