"""Scans custom code without running it: a fast first check, with line numbers and alternatives.

It rejects what the sandbox would refuse anyway, and what does not belong in a node. It is not the security boundary.
"""

import ast
import functools
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from headgate.sandbox.errors import CodeRefused
from headgate.sandbox.reading.rules import COMPONENT_RULES, FORBIDDEN_ATTRIBUTES, INSIDES, NODE_RULES, Rules
from headgate.sandbox.reading.source import Unreadable, read_source

CACHED_SCANS = 64


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason why code may not run."""

    code: str
    """Stable: syntax_error, missing_function, forbidden_import, _name, _member or _attribute."""
    message: str
    remedy: str
    line: int
    column: int = 1
    """Both count from 1."""


def check_code(code: str, function: str) -> None:
    """Raise `CodeRefused` unless `function` of a node's code may be called; see `scan_code`."""
    _require_clean(scan_code(code, function))


def check_component(code: str) -> None:
    """Raise `CodeRefused` unless a component's code may run; see `scan_component`."""
    _require_clean(scan_component(code))


def _require_clean(findings: tuple[Finding, ...]) -> None:
    """Raise an error with every finding; its message is the first one's, with its line."""
    if not findings:
        return
    first, others = findings[0], len(findings) - 1
    more = f" ({others} more)" if others else ""
    raise CodeRefused(
        f"line {first.line}: {first.message}{more}",
        remedy=first.remedy,
        findings=[asdict(finding) for finding in findings],
    )


@functools.lru_cache(maxsize=CACHED_SCANS)
def scan_code(code: str, function: str) -> tuple[Finding, ...]:
    """Return everything that prevents a node's `code` from running; empty when `function` may be called."""
    try:
        tree = read_source(code)
    except Unreadable as error:
        return (_unreadable(error),)
    return (*_Scan(tree, NODE_RULES).sorted_findings(), *_missing(tree, function))


@functools.lru_cache(maxsize=CACHED_SCANS)
def scan_component(code: str) -> tuple[Finding, ...]:
    """Return everything that prevents a component's `code` from running, by line.

    Components may use `headgate.sdk` and network modules: they can only connect to the hosts of their manifest.
    """
    try:
        tree = read_source(code)
    except Unreadable as error:
        return (_unreadable(error),)
    return _Scan(tree, COMPONENT_RULES).sorted_findings()


def _unreadable(error: Unreadable) -> Finding:
    return Finding("syntax_error", error.message, error.remedy, error.line, error.column)


class _Scan:
    """One pass over a module. Iterative: hostile code nests deeper than Python recurses."""

    def __init__(self, tree: ast.Module, rules: Rules) -> None:
        self.rules = rules
        self.nodes = list(ast.walk(tree))
        self.modules = dict(_module_names(self.nodes))
        self.own_names = _bound_names(self.nodes)

    def sorted_findings(self) -> tuple[Finding, ...]:
        return tuple(sorted(self.findings(), key=lambda finding: (finding.line, finding.column)))

    def findings(self) -> Iterator[Finding]:
        names, place = self.rules.names, self.rules.place
        for node in self.nodes:
            match node:
                case ast.Import():
                    for alias in node.names:
                        yield from self._import(node, alias.name)
                case ast.ImportFrom():
                    yield from self._import_from(node)
                case ast.Name(id=name, ctx=ast.Load()) if name in names and name not in self.own_names:
                    yield _finding(node, "forbidden_name", f"'{name}' is not available in {place}", names[name])
                case ast.Attribute():
                    yield from self._attribute(node)
                case ast.Constant(value=str(text)) if text in FORBIDDEN_ATTRIBUTES:
                    yield _finding(
                        node, "forbidden_attribute", (f"'{text}' is not accessible, not even by name"), INSIDES
                    )

    def _import(self, node: ast.Import | ast.ImportFrom, module: str) -> Iterator[Finding]:
        remedy = self.rules.refusal(module)
        if remedy:
            message = f"'{module}' cannot be imported in {self.rules.place}"
            yield _finding(node, "forbidden_import", message, remedy)

    def _import_from(self, node: ast.ImportFrom) -> Iterator[Finding]:
        if node.level or not node.module:
            remedy = "Import by full name; the code is a single module."
            message = f"relative imports are not available in {self.rules.place}"
            yield _finding(node, "forbidden_import", message, remedy)
            return
        if self.rules.refusal(node.module):
            yield from self._import(node, node.module)
            return
        for alias in node.names:
            yield from self._import(node, f"{node.module}.{alias.name}")
            yield from self._member(node, node.module, alias.name)

    def _attribute(self, node: ast.Attribute) -> Iterator[Finding]:
        if node.attr in FORBIDDEN_ATTRIBUTES:
            yield _finding(node, "forbidden_attribute", f"'.{node.attr}' is not accessible", INSIDES)
        elif isinstance(node.value, ast.Name) and node.value.id in self.modules:
            yield from self._member(node, self.modules[node.value.id], node.attr)

    def _member(self, node: ast.stmt | ast.expr, module: str, member: str) -> Iterator[Finding]:
        remedy = self.rules.members.get(module, {}).get(member)
        if remedy:
            message = f"'{module}.{member}' is not available in {self.rules.place}"
            yield _finding(node, "forbidden_member", message, remedy)


def _finding(node: ast.stmt | ast.expr, code: str, message: str, remedy: str) -> Finding:
    return Finding(code, message, remedy, node.lineno, node.col_offset + 1)


def _module_names(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Return the names of modules: `import os as o` returns `o`, `os`."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (root, root)


def _bound_names(nodes: list[ast.AST]) -> set[str]:
    """Return the names that the code rebinds, such as an `open` that is no longer the built-in."""
    names: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name)
    return names


def _missing(tree: ast.Module, function: str) -> Iterator[Finding]:
    if function in _bound_names(_module_level(tree)):
        return
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    definitions = f"it defines {', '.join(defined[:5])}" if defined else "it defines no function"
    yield Finding(
        "missing_function",
        f"the code defines no function '{function}'; {definitions}",
        f"Add `def {function}(...):`.",
        1,
    )


def _module_level(tree: ast.Module) -> list[ast.AST]:
    """Yield every node at module level; functions and classes are included without their content."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return nodes
