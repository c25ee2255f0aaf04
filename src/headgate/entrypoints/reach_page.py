"""Generates the reference of outgoing access: from tables in the code, and from the components' code."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache

from headgate.components import BUILTINS
from headgate.features.models.local import server as local_model
from headgate.foundation.guarded_http.outgoing import OUTGOING, Part
from headgate.sandbox import libraries
from headgate.sandbox.limits import ISOLATED_LIMITS, MIB, Limits
from headgate.sdk import Component

_HEAD = """# What each part may reach

This page is generated from the code (`make docs`): from the table of [outgoing connections](outgoing.md), the limits
and libraries of the sandbox, and what the source of each component uses. `tests/integration/reach` starts the whole
product and compares the connections of each process with it.

## Processes

| process | network | files | secrets | bounds |
|---|---|---|---|---|
"""
_CONNECTIONS = """
## Connections of each process

Every row of [outgoing connections](outgoing.md) with the processes that open it.

| connection | {parts} |
|---|{lines}|
"""
_COMPONENTS = """
## Components

What the source of a built-in component uses, with the modules that it imports from its own package. A component has
nothing else: it gets one object, and no database, settings or environment. `InstalledPackages` reads the metadata of
the packages that Headgate runs with.

| component | declares an outside effect | may reach |
|---|---|---|
"""
_USES = {
    "http": "web addresses, through the guard",
    "chat_model": "language models",
    "transcribe": "transcription models",
    "mcp_tools": "the MCP servers of the flow's space",
    "secret": "variables that its fields refer to",
    "connection": "servers of the connections that its fields name",
    "files": "files of the run",
    "workspace": "the workspace of the user who starts the run",
    "code": "a sandbox process for custom code",
    "isolated": "a process for content from outside",
}
"""Members of a component's context that lead out of it. The others (log, cancellation, time, input) lead nowhere."""
_PARTS = {Part.SERVER: "server", Part.WORKER: "worker and beat", Part.COMMAND: "command line"}
_LEADING = "headgate.components"


def reach_page() -> str:
    """The page in Markdown."""
    parts = " | ".join(_PARTS.values())
    connections = _CONNECTIONS.format(parts=parts, lines="|".join("---" for _ in _PARTS))
    return (
        _HEAD
        + "".join(_line(*cells) for cells in _processes())
        + connections
        + "".join(_line(row.label, *("yes" if part in row.opened_by else "" for part in _PARTS)) for row in OUTGOING)
        + _COMPONENTS
        + "".join(_line(*_component(builtin)) for builtin in BUILTINS)
    )


def _processes() -> Iterator[tuple[str, ...]]:
    everything = "the data folder, the database, its own program"
    key = "all variables (it holds the key), keys of its environment"
    bounds = "no limits except those of the service manager"
    yield "server, worker, beat, command line", "the rows below", everything, key, bounds
    yield "custom code of a `Python` node", "none", _scratch(Limits()), "none", _bounds(Limits())
    component = "secrets that its fields refer to, for the hosts of its manifest"
    hosts = "hosts of its manifest that `HEADGATE_SANDBOX__HOSTS` opens; the server connects for it"
    yield "custom component", hosts, _scratch(Limits()), component, _bounds(Limits())
    yield (
        "documents, pages, SQL, JMESPath, regular expressions, JSON Schema",
        "none",
        _scratch(ISOLATED_LIMITS),
        "none",
        _bounds(ISOLATED_LIMITS),
    )
    passed = ", ".join(f"`{name}`" for name in sorted(local_model._PASSED_ON))  # noqa: SLF001 - shown as it is
    environment = f"none; its environment has {passed} alone"
    yield "local model", "one port of loopback, with a token", "the weights", environment, "one at a time"
    program = "those that its registration names"
    consent = "started only with `HEADGATE_MCP__ALLOW_STDIO`"
    yield "program as MCP server", "as the server's user", "as the server's user", program, consent


def _scratch(limits: Limits) -> str:
    devices = ", ".join(f"`{device}`" for device in libraries.DEVICES)
    return (
        f"reads installed libraries and {devices}; writes a scratch folder of {limits.scratch_bytes // MIB} MiB, "
        "removed with the process"
    )


def _bounds(limits: Limits) -> str:
    return (
        f"{limits.memory_bytes // MIB} MiB, {limits.processor_seconds:g} s of processor, {limits.wall_seconds:g} s, "
        f"{limits.threads} threads, no processes; killed at a bound"
    )


def _component(component: type[Component]) -> tuple[str, ...]:
    used = [_USES[name] for name in _USES if name in context_of(component.__module__)]
    effect = "yes" if component.effect else ""
    return f"[`{component.__name__}`](components.md#{component.__name__.lower()})", effect, "; ".join(used) or "nothing"


@cache
def context_of(module: str) -> frozenset[str]:
    """Members of a step's context that a module of components uses, and the modules it imports from its package."""
    seen: set[str] = set()
    used: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(name)))):
            if isinstance(node, ast.Attribute) and _is_context(node.value):
                used.add(node.attr)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_LEADING):
                todo.append(str(node.module))
    return frozenset(used)


def _is_context(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in {"ctx", "_ctx", "context"}


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"
