"""Turns code into a component: scanned, described in the sandbox, and tried once with samples."""

import ast
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Final, Protocol, cast

from pydantic import JsonValue

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.described import NotPlausible, read_description
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.registry import Registry
from headgate.foundation.errors import Invalid, TooLarge
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.manifest import Manifest
from headgate.graph.names import listed
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, FieldTemplate, Template
from headgate.sandbox.errors import CodeFailed
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sandbox.reading.scan import scan_component
from headgate.sdk import CodeRunner, Message, Table
from headgate.sdk.crossing import DESCRIBE, PRODUCE, pack
from headgate.sdk.reserved import reserved_names

_TEXT = "sample text"
_DATA: JsonValue = {"sample": _TEXT}
_BY_KIND: dict[FieldKind, object] = {
    FieldKind.NUMBER: 1.0,
    FieldKind.INTEGER: 1,
    FieldKind.BOOLEAN: True,
    FieldKind.JSON: _DATA,
    FieldKind.TABLE: Table(columns=["sample"], rows=[[_TEXT], ["more"]]),
    FieldKind.MESSAGE: Message(text=_TEXT),
}
_NONE = frozenset({FieldKind.FILE, FieldKind.SECRET, FieldKind.MODEL, FieldKind.TOOLS})


def sample_values(template: Template) -> dict[str, JsonValue] | None:
    """Return a packed value for each required field; None when a field's kind has no sample: a file, a secret."""
    required = [field for field in template.fields if field.required]
    if any(field.kind in _NONE for field in required):
        return None
    return {field.name: pack(_sample(field)) for field in required}


def _sample(field: FieldTemplate) -> object:
    sample = _one(field)
    return [sample] if field.many else sample


def _one(field: FieldTemplate) -> object:
    if field.options:
        first = field.options[0]
        return [first] if field.kind is FieldKind.MULTISELECT else first
    if field.kind is FieldKind.JSON and field.schema_ is not None and field.schema_.get("type") == "array":
        return [_DATA]
    if field.kind is FieldKind.JSON and PortType.TEXT in field.types:
        return _TEXT
    return _BY_KIND.get(field.kind, _TEXT)


SECONDS = 10.0
"""Timeout of the description, and of the trial."""
_EXCUSED: Final = frozenset(
    {"ComponentError", "Invalid", "ValueError", "ValidationError", "JSONDecodeError", "UnicodeDecodeError"}
)
"""Exceptions for invalid input; a sample may not be what the author expected."""


class CodeRunners(Protocol):
    """The sandbox."""

    def runner(self, tenant_id: str) -> AbstractContextManager[CodeRunner]:
        """Return a runner for one check of a tenant."""


class ComponentChecker:
    """Checks code that is to become a component.

    Args:
        sandbox: Runs the code.
        registry: The existing components; their names are reserved.
        seconds: Timeout of the description, and of the trial.
    """

    def __init__(self, sandbox: CodeRunners, registry: Registry, *, seconds: float = SECONDS) -> None:
        self._sandbox = sandbox
        self._seconds = seconds
        self._registry = registry

    async def check(self, tenant_id: str, code: str) -> CheckedComponent:
        """Return the component when the code passes.

        Raises `ComponentNotMade`; its `findings` are `{"code", "message", "remedy", "line"}`, one for every fault.
        Raises `SandboxUnavailable` or `SandboxBusy` when the sandbox is not available.
        """
        await run_in_flow_thread(_refuse_scanned, code)  # analysing large code takes a while
        manifest = await run_in_flow_thread(derive_manifest, code)
        quiet = Manifest(imports=manifest.imports)
        with self._sandbox.runner(tenant_id) as runner:
            template = await self._described(runner, code, quiet, manifest)
            note = await self._tried(runner, code, quiet, manifest, template)
        return CheckedComponent(code, template, manifest, note)

    async def _described(self, runner: CodeRunner, code: str, quiet: Manifest, manifest: Manifest) -> Template:
        try:
            description = await runner.call_host(code, DESCRIBE, {}, manifest=quiet, timeout_seconds=self._seconds)
            template = read_description(description, code, manifest)
        except (Invalid, TooLarge) as error:
            raise _not_made("description_failed", error, _line_of(error, code)) from error
        name = template.type.casefold()
        same_name = next((type_ for type_ in self._registry.types() if type_.casefold() == name), None)
        if same_name is not None:  # a name that only differs in case could be mistaken for the other
            raise _refused(
                "reserved_name",
                f"a component '{same_name}' is already installed",
                "Give the class another name that describes what it does.",
                _class_line(code, template.type),
            )
        return template

    async def _tried(
        self, runner: CodeRunner, code: str, quiet: Manifest, manifest: Manifest, template: Template
    ) -> str:
        """Produce all outputs once; return why it was not tried, or a failure that is not a fault of the code."""
        if manifest.hosts:
            return f"Not tried: it requires network access ({listed(manifest.hosts)})."
        if manifest.files:
            return "Not tried: it uses files."
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
                return f"The trial run with sample values failed: {error.detail}"
            raise _not_made("trial_failed", error, _line_of(error, code)) from error
        except (Invalid, TooLarge) as error:
            raise _not_made("trial_failed", error, _class_line(code, template.type)) from error
        return ""


def _refuse_scanned(code: str) -> None:
    """Raise the findings of the static analysis."""
    findings: list[dict[str, Any]] = [asdict(finding) for finding in scan_component(code)]
    if not any(finding["code"] == "syntax_error" for finding in findings):
        findings += [asdict(reserved) | {"code": "reserved_name"} for reserved in reserved_names(code)]
    if findings:
        raise made_of(sorted(findings, key=lambda finding: (finding["line"], finding["column"])))


def made_of(findings: Sequence[Mapping[str, JsonValue]]) -> ComponentNotMade:
    """Return the error with these findings."""
    first, others = findings[0], len(findings) - 1
    more = f" ({others} more)" if others else ""
    return ComponentNotMade(
        f"Line {first['line']}: {first['message']}{more}",
        remedy=str(first["remedy"]),
        findings=[dict(finding) for finding in findings],
    )


def _refused(code: str, message: str, remedy: str, line: int) -> ComponentNotMade:
    return made_of([{"code": code, "message": message, "remedy": remedy, "line": line, "column": 1}])


def _not_made(code: str, error: Invalid | TooLarge, line: int) -> ComponentNotMade:
    return _refused(code, error.detail.rstrip("."), error.remedy, line)


def _line_of(error: Invalid | TooLarge, code: str) -> int:
    """Return the line where the code failed, else that of the class."""
    line = error.extra.get("line")
    return line if isinstance(line, int) and not isinstance(error, NotPlausible) else _class_line(code, "")


def _class_line(code: str, name: str) -> int:
    classes = [node for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]
    match = next((node for node in classes if node.name == name), classes[-1] if classes else None)
    return match.lineno if match is not None else 1
