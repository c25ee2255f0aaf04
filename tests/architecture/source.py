"""The project's own files, read for the checks of this folder."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "headgate"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that git knows and that is there; outside a clone, every file of the project's own folders."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=False, capture_output=True, text=True)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
        return tuple(sorted(ROOT / name for name in names if (ROOT / name).is_file()))
    folders = ("src", "tests", "docs", "examples", "benchmarks", "scripts")
    return tuple(sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()))


@cache
def modules() -> tuple[Path, ...]:
    """Every Python file of the product."""
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Every function of a file, methods and nested ones too, by its dotted name."""
    yield from _functions(tree(path), "")


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}{child.name}."
        yield from _functions(child, inner)


def code_lines(function: Function) -> int:
    """Lines of a function's code: without its signature, its docstring and the functions inside it."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    inner: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not function:
            inner |= set(range(node.lineno, _end(node) + 1))
    return len(set(range(body[0].lineno, _end(function) + 1)) - inner)


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def shown(path: Path) -> str:
    """A path as messages name it."""
    return path.relative_to(ROOT).as_posix()


def text_of(path: Path) -> str | None:
    """The content of a text file; None for a binary one."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
