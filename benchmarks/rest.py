"""Runs over HTTP: flows of 3 and 12 steps, started and awaited, at 1, 8 and 32 requests at once.

The server is a real `headgate serve` on SQLite. The floor in the same run is the smallest FastAPI route on the same
kind of server that takes the same body and answers as many bytes.

    python -m benchmarks.rest [--quick | --smoke] [--json FILE]
"""

import asyncio
import json
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import Report, arguments, cpu_seconds, percentile
from benchmarks.serving import serving
from benchmarks.startup import free_port

HEADGATE = str(Path(sys.executable).with_name("headgate"))
AIMS = {(3, 1): 10.0, (12, 1): 20.0}
LEAST_RATE = 150.0
"""Runs a second of the 3-step flow at 8 requests at once."""
FLOOR = """
import socket, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
class Body(BaseModel):
    text: str = ""
    wait: bool = False
app = FastAPI()
@app.post("/run")
async def run(body: Body) -> dict[str, str]:
    return {"text": body.text, "filler": "x" * 1200}
listening = socket.socket(); listening.bind(("127.0.0.1", PORT)); listening.listen(2048)
uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run(sockets=[listening])
"""


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    seconds, levels = options.choose(8.0, 2.0, 0.0), options.choose((1, 8, 32), (1, 8, 32), (1, 2))
    report = Report(
        "Runs over HTTP (SQLite)", ("flow", "at once", "p50 ms", "p95 ms", "runs/s", "CPU-ms", "floor p50", "ratio")
    )
    with _process([sys.executable, "-c"], {}) as (port, pid):
        floors = {at_once: asyncio.run(_load(port, "/run", at_once, seconds / 2, pid)) for at_once in levels}
    with (
        tempfile.TemporaryDirectory() as folder,
        _process([HEADGATE, "serve", "--port"], {"HEADGATE_DATA_DIR": folder}) as (
            port,
            pid,
        ),
    ):
        for steps in (3, 12):
            flow = _published(port, steps)
            asyncio.run(_load(port, flow, 4, min(0.5, seconds), pid))
            for at_once in levels:
                _row(report, steps, at_once, asyncio.run(_load(port, flow, at_once, seconds, pid)), floors[at_once])
    report.finish(options, picture="rest.png")


def _row(report: Report, steps: int, at_once: int, found: dict[str, float], floor: dict[str, float]) -> None:
    aim = AIMS.get((steps, at_once))
    bar = None
    if aim is not None:
        bar = (f"{steps} steps at {at_once}: p50 of {aim:.0f} ms", found["p50"] / aim)
    elif (steps, at_once) == (3, 8):
        bar = (f"{steps} steps at {at_once}: {LEAST_RATE:.0f} runs/s", LEAST_RATE / found["rate"])
    report.add(
        f"{steps} steps",
        str(at_once),
        f"{found['p50']:.1f}",
        f"{found['p95']:.1f}",
        f"{found['rate']:.0f}",
        f"{found['cpu_ms']:.1f}",
        f"{floor['p50']:.1f}",
        f"{found['p50'] / floor['p50']:.1f}x",
        values={"steps": steps, "at_once": at_once, **found, "floor": floor},
        bar=bar,
    )


@contextmanager
def _process(command: list[str], extra: dict[str, str]) -> Iterator[tuple[int, int]]:
    """A server on a free port, with its process id."""
    port = free_port()
    last = FLOOR.replace("PORT", str(port)) if command[-1] == "-c" else str(port)
    with serving([*command, last], extra, port, "/docs") as found:
        yield found


def _published(port: int, steps: int) -> str:
    """Publish a flow of so many steps; returns the address that runs it."""
    middle = "".join(f"  join_{n}: CombineText\n    separator: ','\n" for n in range(steps - 2))
    names = ["heard.text", *(f"join_{n}.text" for n in range(steps - 2))]
    targets = [*(f"join_{n}.parts" for n in range(steps - 2)), "said.input"]
    edges = "".join(f"  {source} -> {target}\n" for source, target in zip(names, targets, strict=True))
    spec = f"name: Bench {steps}\nnodes:\n  heard: ChatInput\n{middle}  said: ChatOutput\nedges:\n{edges}"
    flow = _post(port, "/api/v1/flows", {"spec": spec})
    _post(port, f"/api/v1/flows/{flow['id']}/publish", {})
    return f"/api/v1/flows/{flow['id']}/runs"


def _post(port: int, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


async def _load(port: int, path: str, at_once: int, seconds: float, pid: int) -> dict[str, float]:
    """Keep so many requests going for so long, each on a connection of its own that is kept open."""
    body = json.dumps({"text": "hello", "wait": True} | ({"version": "published"} if "flows" in path else {})).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    request = head.encode() + body
    took: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while not took or time.perf_counter() < end:
            began = time.perf_counter()
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            status = answer.split(b" ", 2)[1]
            length = next(
                int(line.split(b":")[1]) for line in answer.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            content = await reader.readexactly(length)
            if status not in {b"200", b"201"} or (b"flows" in request[:40] and b'"status":"completed"' not in content):
                raise RuntimeError(f"{status!r} {content[:300]!r}")
            took.append((time.perf_counter() - began) * 1000)
        writer.close()

    before, began = cpu_seconds(pid), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(at_once)))
    elapsed, used = time.perf_counter() - began, cpu_seconds(pid) - before
    return {
        "p50": percentile(took, 0.5),
        "p95": percentile(took, 0.95),
        "rate": len(took) / elapsed,
        "cpu_ms": used / len(took) * 1000,
    }


if __name__ == "__main__":
    main()
