"""Lazy modules are ordinary imports to a type checker and to the layers' check."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import modules, shown, tree

pytestmark = pytest.mark.xdist_group("source")


def lazy_names(path: Path) -> Iterator[tuple[str, str]]:
    """Name and module of each `name = lazy_module("module")`."""
    for node in ast.walk(tree(path)):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "lazy_module"
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value.args[0], ast.Constant)
        ):
            yield node.targets[0].id, str(node.value.args[0].value)


def imported_names(path: Path) -> set[tuple[str, str]]:
    """Name and module of each import of a module, from its package or by its own name."""
    return {
        (alias.asname or alias.name, f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }


def test_a_lazy_module_has_the_type_of_the_module_it_names() -> None:
    names = {path: set(lazy_names(path)) for path in modules()}
    assert any(names.values())
    wrong = {shown(path): lazy - imported_names(path) for path, lazy in names.items() if lazy - imported_names(path)}
    assert not wrong, f"These are imported under another name, or not at all, where TYPE_CHECKING: {wrong}"


def test_lazy_modules_are_named_by_this_mechanism_only() -> None:
    calls = [
        f"{shown(path)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lazy_module"
    ]
    assert len(calls) == sum(len(list(lazy_names(path))) for path in modules()), f"assign each to a name: {calls}"
