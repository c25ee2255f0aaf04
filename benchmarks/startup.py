"""Start-up: version, first healthy answer, CPU of commands, memory, size of the install, and what is imported.

The raw floor in the same run: an interpreter that does nothing, the smallest FastAPI application, and for commands an
interpreter that imports the libraries that all of them use.

    python -m benchmarks.startup [--quick | --smoke] [--json FILE]
"""

import importlib.metadata
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
from packaging.requirements import Requirement

from benchmarks.measure import Report, arguments, cpu_seconds, median
from benchmarks.serving import START_SECONDS

LIBRARIES = "import asyncio, aiosqlite, orjson, pydantic_settings, rich.table, sqlalchemy.ext.asyncio, typer"
COMMANDS = {
    "flows list": ("flows", "list"),
    "runs list": ("runs", "list"),
    "ask": ("ask", "list the installed packages", "--model", "offline"),
    "run": ("run", "echo", "--text", "hello"),
}
"""Commands by name; `run` runs the flow that is imported first."""
FIRST_OUTPUT = {"ask": "until it shows the flow", "run": "until it shows the first step"}
"""The first output of two commands: a finished step, which is later than the beginning of one."""
FLOW = """name: echo
nodes:
  given: ChatInput
  out: ChatOutput
edges:
  given.text -> out.input
"""
MISSING = "not installed"
HEADGATE = Path(sys.executable).with_name("headgate")
PROVIDERS = ("openai", "anthropic", "langchain_openai", "langchain_anthropic", "langchain", "langgraph", "xllamacpp")
BARE = """
import socket, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}
listening = socket.socket(); listening.bind(("127.0.0.1", PORT)); listening.listen()
uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run(sockets=[listening])
"""


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    repeats = options.choose(10, 3, 1)
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        serve, smallest = [str(HEADGATE), "serve", "--port"], [sys.executable, "-c"]
        first = _serve(serve, environment, imported=Path(folder) / "imported")  # makes the database and the bytecode
        floor, version, bare, served = [], [], [], [first] if options.smoke else []
        for _ in range(repeats):  # in turns: each meets the same load as its floor
            floor.append(_seconds([sys.executable, "-c", "pass"], environment))
            version.append(_seconds([str(HEADGATE), "version"], environment))
            bare.append(_serve(smallest, environment))
            if not options.smoke:
                served.append(_serve(serve, environment))
        loaded = _providers(Path(folder) / "imported")
        names = list(COMMANDS)[: 1 if options.smoke else None]
        libraries, commands = _commands(Path(folder), environment, repeats, names)
    base = _installed()
    packages, megabytes = len(base), _megabytes(base)
    report = Report("Start-up", ("what", "median", "aim", "floor", "ratio"))
    _row(report, "headgate version (ms)", median(version) * 1000, 150, median(floor) * 1000)
    _row(
        report,
        "first healthy answer (ms)",
        median([s for s, _ in served]) * 1000,
        1500,
        median([s for s, _ in bare]) * 1000,
    )
    for name, seconds in commands.items():
        aim = 500 if name in COMMANDS else 1000
        _row(report, f"CPU of {name} (ms)", median(seconds) * 1000, aim, median(libraries) * 1000)
    _row(report, "memory after it (MB)", median([m for _, m in served]), 150, median([m for _, m in bare]))
    report.add("base install (MB)", f"{megabytes:.0f}", "200", "", "", values={"megabytes": megabytes})
    report.add("base packages", str(packages), "60", "", "", values={"packages": packages})
    report.add("provider packages imported", ", ".join(loaded) or "none", "none", "", "", values={"loaded": loaded})
    report.finish(options, picture="startup.png")
    extras = Report("What each extra adds to a base install", ("extra", "packages", "MB"))
    for extra in importlib.metadata.metadata("headgate").get_all("Provides-Extra") or []:
        more = _installed(extra) - base
        if MISSING in more:
            extras.add(extra, "not installed", "", values={"extra": extra})
            continue
        size, values = _megabytes(more), {"extra": extra, "packages": len(more)}
        extras.add(extra, str(len(more)), f"{size:.1f}", values=values | {"megabytes": size}, bar=(extra, size))
    extras.finish(replace(options, json=None), picture="extras.png", axis="MB")


def _row(report: Report, what: str, value: float, aim: float, floor: float) -> None:
    report.add(
        what,
        f"{value:.0f}",
        f"{aim:.0f}",
        f"{floor:.0f}",
        f"{value / floor:.1f}x",
        values={"value": value, "aim": aim, "floor": floor},
        bar=(what, value / aim),
    )


def _environment(folder: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"HEADGATE_DATA_DIR": folder, "HEADGATE_LOG__LEVEL": "error"}


def _seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _commands(
    folder: Path, environment: dict[str, str], repeats: int, names: Sequence[str]
) -> tuple[list[float], dict[str, list[float]]]:
    """CPU seconds of the libraries alone, and of each command, taken in turns: both meet the same load."""
    if "run" in names:
        flow = folder / "echo.flow"
        flow.write_text(FLOW)
        _processor([str(HEADGATE), "import", str(flow)], environment)
    libraries: list[float] = []
    commands: dict[str, list[float]] = {}
    for _ in range(repeats):
        libraries.append(_processor([sys.executable, "-c", LIBRARIES], environment))
        for name in names:
            first, whole = _processor_times([str(HEADGATE), *COMMANDS[name]], environment)
            if name in FIRST_OUTPUT:
                commands.setdefault(f"{name}, {FIRST_OUTPUT[name]}", []).append(first)
            commands.setdefault(f"{name}, whole" if name in FIRST_OUTPUT else name, []).append(whole)
    return libraries, commands


def _processor(command: Sequence[str], environment: dict[str, str]) -> float:
    """CPU seconds of a process and what it started."""
    return _processor_times(command, environment)[1]


def _processor_times(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """CPU seconds of a process until its first output, and in total with what it started.

    Raises `RuntimeError` with what it wrote when it fails.
    """
    before = os.times()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        written = os.read(process.stdout.fileno(), 1)
        first = cpu_seconds(process.pid, alone=True)
        written += process.stdout.read()
    after = os.times()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {written[-2000:].decode()}")
    return first, after.children_user + after.children_system - before.children_user - before.children_system


def _serve(
    command: Sequence[str], environment: dict[str, str], imported: Path = Path(os.devnull)
) -> tuple[float, float]:
    """Seconds from the start of the process to its first healthy answer, and megabytes resident then.

    With `imported`, the interpreter writes each import into that file.
    """
    port = free_port()
    bare = command[-1] == "-c"
    last = BARE.replace("PORT", str(port)) if bare else str(port)
    began = time.perf_counter()
    more = {} if imported == Path(os.devnull) else {"PYTHONPROFILEIMPORTTIME": "1"}
    with imported.open("wb") as errors:
        process = subprocess.Popen([*command, last], env=environment | more, stderr=errors)
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                    answer.read()
                break
            except OSError:
                if process.poll() is not None or time.perf_counter() - began > START_SECONDS:
                    raise RuntimeError("the server did not start") from None
                time.sleep(0.005)
        seconds = time.perf_counter() - began
        return seconds, psutil.Process(process.pid).memory_info().rss / 1e6
    finally:
        process.terminate()
        try:
            process.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _providers(imported: Path) -> list[str]:
    """Provider packages among what a server imported until its first answer."""
    names = {line.rpartition("|")[2].strip() for line in imported.read_text().splitlines()}
    return [name for name in PROVIDERS if name in names]


def _installed(extra: str = "") -> frozenset[str]:
    """Packages that a plain `pip install headgate` brings, or one with an extra; `MISSING` for one not installed."""
    names, seen = set[str](), dict[str, set[str]]()
    queue = [Requirement(f"headgate[{extra}]" if extra else "headgate")]
    while queue:
        wanted = queue.pop()
        name = wanted.name.lower().replace("_", "-")
        try:
            required = [Requirement(line) for line in importlib.metadata.requires(name) or []]
        except importlib.metadata.PackageNotFoundError:
            names.add(MISSING)
            continue
        names.add(name)
        for one in {"", *wanted.extras} - seen.get(name, set()):
            seen.setdefault(name, set()).add(one)
            queue += [each for each in required if each.marker is None or each.marker.evaluate({"extra": one})]
    return frozenset(names)


def _megabytes(names: Iterable[str]) -> float:
    """Their size on disk without bytecode."""
    return sum(map(_size, names)) / 1e6


def _size(name: str) -> int:
    files = importlib.metadata.files(name) or []
    paths = (Path(str(file.locate())) for file in files if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.exists())


if __name__ == "__main__":
    main()
