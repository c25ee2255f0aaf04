"""From code to a component: scanned, described by itself in the sandbox, and tried once with samples."""

import ast
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Final, Protocol, cast

from pydantic import JsonValue

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.described import NotPlausible, read_description
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.samples import sample_values
from headgate.features.catalog.registry import Registry
from headgate.foundation.errors import Invalid, TooLarge
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.manifest import Manifest
from headgate.graph.names import listed
from headgate.graph.template import Template
from headgate.sandbox.errors import CodeFailed
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sandbox.reading.scan import scan_component
from headgate.sdk import CodeRunner
from headgate.sdk.crossing import DESCRIBE, PRODUCE
from headgate.sdk.reserved import reserved_names

SECONDS = 10.0
"""For the description, and for the trial."""
_EXCUSED: Final = frozenset(
    {"ComponentError", "Invalid", "ValueError", "ValidationError", "JSONDecodeError", "UnicodeDecodeError"}
)
"""Exceptions with which code complains of what it was given; a sample is not what its author had in mind."""


class CodeRunners(Protocol):
    """The sandbox."""

    def runner(self, tenant_id: str) -> AbstractContextManager[CodeRunner]:
        """A runner for one check for a tenant."""
        ...


class ComponentChecker:
    """Checks code that is to become a component.

    Args:
        sandbox: Where it runs.
        registry: The components that are there already; their names are taken.
        seconds: How long the description may take, and the trial.
    """

    def __init__(self, sandbox: CodeRunners, registry: Registry, *, seconds: float = SECONDS) -> None:
        self._sandbox = sandbox
        self._seconds = seconds
        self._registry = registry

    async def check(self, tenant_id: str, code: str) -> CheckedComponent:
        """What the code is, when it passes.

        Raises `ComponentNotMade`; its `findings` are `{"code", "message", "remedy", "line"}`, every fault that was
        seen. Raises `SandboxUnavailable` or `SandboxBusy` where the sandbox cannot be had.
        """
        await run_in_flow_thread(_refuse_scanned, code)  # reading much of it takes a while
        manifest = await run_in_flow_thread(derive_manifest, code)
        quiet = Manifest(imports=manifest.imports)
        with self._sandbox.runner(tenant_id) as runner:
            template = await self._described(runner, code, quiet, manifest)
            note = await self._tried(runner, code, quiet, manifest, template)
        return CheckedComponent(code, template, manifest, note)

    async def _described(self, runner: CodeRunner, code: str, quiet: Manifest, manifest: Manifest) -> Template:
        try:
            found = await runner.call_host(code, DESCRIBE, {}, manifest=quiet, timeout_seconds=self._seconds)
            template = read_description(found, code, manifest)
        except (Invalid, TooLarge) as error:
            raise _not_made("description_failed", error, _line_of(error, code)) from error
        name = template.type.casefold()
        taken = next((one for one in self._registry.types() if one.casefold() == name), None)
        if taken is not None:  # a name that differs in its capitals alone passes for the other
            raise _refused(
                "reserved_name",
                f"a component '{taken}' came with the installation",
                "Give the class another name, which says what it does.",
                _class_line(code, template.type),
            )
        return template

    async def _tried(
        self, runner: CodeRunner, code: str, quiet: Manifest, manifest: Manifest, template: Template
    ) -> str:
        """Have it give all its outputs once; why not, or what came of it, where that is no fault of the code."""
        if manifest.hosts:
            return f"Not tried: it asks for the network ({listed(manifest.hosts)})."
        if manifest.files:
            return "Not tried: it works with files."
        values = sample_values(template)
        if values is None:
            return "Not tried: a field has no sample value."
        arguments: dict[str, JsonValue] = {
            "values": cast("JsonValue", values),
            "outputs": [output.name for output in template.outputs],
            "input": {"text": "sample text", "form_data": {}, "files": [], "history": []},
        }
        try:
            await runner.call_host(code, PRODUCE, arguments, manifest=quiet, timeout_seconds=self._seconds)
        except CodeFailed as error:
            if error.extra.get("exception") in _EXCUSED:
                return f"Tried with samples, which it does not take: {error.detail}"
            raise _not_made("trial_failed", error, _line_of(error, code)) from error
        except (Invalid, TooLarge) as error:
            raise _not_made("trial_failed", error, _class_line(code, template.type)) from error
        return ""


def _refuse_scanned(code: str) -> None:
    """Raise what reading the code alone tells against it."""
    findings: list[dict[str, Any]] = [asdict(one) for one in scan_component(code)]
    if not any(one["code"] == "syntax_error" for one in findings):
        findings += [asdict(one) | {"code": "reserved_name"} for one in reserved_names(code)]
    if findings:
        raise made_of(sorted(findings, key=lambda one: (one["line"], one["column"])))


def made_of(findings: Sequence[Mapping[str, JsonValue]]) -> ComponentNotMade:
    """The error that tells of these findings."""
    first, others = findings[0], len(findings) - 1
    more = f" ({others} more)" if others else ""
    return ComponentNotMade(
        f"Line {first['line']}: {first['message']}{more}",
        remedy=str(first["remedy"]),
        findings=[dict(one) for one in findings],
    )


def _refused(code: str, message: str, remedy: str, line: int) -> ComponentNotMade:
    return made_of([{"code": code, "message": message, "remedy": remedy, "line": line, "column": 1}])


def _not_made(code: str, error: Invalid | TooLarge, line: int) -> ComponentNotMade:
    return _refused(code, error.detail.rstrip("."), error.remedy, line)


def _line_of(error: Invalid | TooLarge, code: str) -> int:
    """The line that the code itself failed in, else the one of the class."""
    line = error.extra.get("line")
    return line if isinstance(line, int) and not isinstance(error, NotPlausible) else _class_line(code, "")


def _class_line(code: str, name: str) -> int:
    classes = [node for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]
    found = next((node for node in classes if node.name == name), classes[-1] if classes else None)
    return found.lineno if found is not None else 1
