"""Reserved names of a component's inputs and outputs, detected in its source without running it.

`component_as_tool` and `to_toolkit` are common names for the tool made of a component; code written by a model tends to
declare them (seed 000, ADR-MCP-044). The others are used by Headgate or by the class.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.graph.template import TOOL_OUTPUT
from headgate.graph.wiring import FILE_IDS
from headgate.sdk.component import Component

SYNTHETIC_OUTPUT = "component_as_tool"
SYNTHETIC_METHOD = "to_toolkit"
_TOOL_REMEDY = (
    "Remove it: Headgate creates the tool when a field has tool_mode=True. Name an output after its value: "
    "item, price, result."
)
RESERVED_OUTPUTS = {
    SYNTHETIC_OUTPUT: _TOOL_REMEDY,
    SYNTHETIC_METHOD: _TOOL_REMEDY,
    TOOL_OUTPUT: _TOOL_REMEDY,
    FILE_IDS: "References use it for the files that a step returned. Name it after its content: files, report.",
}
"""Output name to the remedy."""
CLASS_NAMES = frozenset(name for name in dir(Component) if not name.startswith("_"))
"""Attributes and methods of the base class."""


@dataclass(frozen=True, slots=True)
class ReservedName:
    """A reserved name and its location. Line and column count from 1."""

    line: int
    column: int
    message: str
    remedy: str


def reserved_names(code: str) -> tuple[ReservedName, ...]:
    """Return every input and output of the code's classes with a reserved name, in line order.

    Returns nothing for code that is not Python: parsing reports that first.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    findings = [name for cls in classes for name in _class_names(cls)]
    return tuple(sorted(findings, key=lambda name: (name.line, name.column)))


def _class_names(klass: ast.ClassDef) -> Iterator[ReservedName]:
    fields = {name for node in klass.body for name in _field_names(node)}
    for node in klass.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _output_findings(node, fields)
        elif isinstance(node, ast.AnnAssign) and _declares(node) and CLASS_NAMES & _field_names(node):
            name = ", ".join(_field_names(node))
            yield ReservedName(
                node.lineno,
                node.col_offset + 1,
                f"no field can be named '{name}': the class uses that name",
                f'Use another name for the attribute, and keep the name in flows with field(name="{name}").',
            )


def _output_findings(method: ast.FunctionDef | ast.AsyncFunctionDef, fields: set[str]) -> Iterator[ReservedName]:
    mark = next((call for decorator in method.decorator_list if (call := _call_of(decorator, "output"))), None)
    if mark is None and not any(_is_named(decorator, "output") for decorator in method.decorator_list):
        return
    name = _name_given(mark) or method.name
    for reserved in dict.fromkeys((name, method.name)):
        if reserved in RESERVED_OUTPUTS:
            message = f"the output name '{reserved}' is reserved for the tool that Headgate creates for a component"
            if reserved == FILE_IDS:
                message = f"the output name '{reserved}' is reserved"
            yield _at(method, message, RESERVED_OUTPUTS[reserved])
    if method.name in CLASS_NAMES:
        remedy = "Name the method after what it does, as verb and noun: get_price, count_words."
        yield _at(method, f"no output can be named '{method.name}': the class uses that name", remedy)
    elif method.name in fields:
        yield _at(
            method,
            f"'{method.name}' is an input and an output",
            f"Use another name for the method, as verb and noun: get_{method.name}.",
        )


def _field_names(node: ast.stmt) -> set[str]:
    """Return the attribute that an annotated assignment declares; none for class variables and private ones."""
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or node.target.id.startswith("_"):
        return set()
    return {node.target.id}


def _declares(node: ast.AnnAssign) -> bool:
    """Return whether it declares an input: class variables such as `label` are set, not declared."""
    return node.value is not None and _call_of(node.value, "field") is not None


def _call_of(node: ast.expr, name: str) -> ast.Call | None:
    """Return the call, when it is one of `name` or of `module.name`."""
    return node if isinstance(node, ast.Call) and _is_named(node.func, name) else None


def _is_named(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _name_given(call: ast.Call | None) -> str:
    """Return the text of the argument `name`; empty when there is none."""
    for keyword in call.keywords if call else ():
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return keyword.value.value
    return ""


def _at(method: ast.FunctionDef | ast.AsyncFunctionDef, message: str, remedy: str) -> ReservedName:
    return ReservedName(method.lineno, method.col_offset + 1, message, remedy)
