"""What a start may import: each command, and the server until its first answer, pays only for what it uses."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import headgate

AGENTS = ("headgate.agents",)
COMPONENTS = ("headgate.components", "headgate.sandbox.pool")
ENGINE = ("headgate.features.runs.engine", "headgate.features.runs.store", "headgate.features.runs.steps")
SERVER = ("fastapi", "uvicorn", "headgate.entrypoints.http")
OTHERS = (
    "headgate.features.testing",
    "headgate.features.connections",
    "headgate.features.mcptools",
    "headgate.features.maintenance",
)
HEAVY = (
    *(
        "alembic",
        "anthropic",
        "celery",
        "cryptography",
        "httpx2",
        "jsonschema",
        "langchain",
        "langchain_core",
    ),
    *(
        "langgraph",
        "mcp",
        "numpy",
        "openai",
        "opentelemetry.sdk",
        "pandas",
        "prometheus_client",
        "psycopg",
        "rapidfuzz",
    ),
)
LATER = ("structlog", "headgate.features.flows.schemas")
"""What the first log line, and the first request, import."""
READS = (
    *HEAVY,
    *LATER,
    *SERVER,
    *AGENTS,
    *COMPONENTS,
    *ENGINE,
    *OTHERS,
    "headgate.toolkit",
    "sqlalchemy.dialects.postgresql",
)
LANGUAGE = ("headgate.graph.model", "headgate.sdk", "headgate.features.catalog", "headgate.foundation.guarded_http")
"""What reads and executes the content of flows."""

EXAMPLE = Path(headgate.__file__).parent / "components" / "examples" / "ChatOutput.flow"
COMMANDS: dict[str, tuple[str, ...]] = {
    "flows list": (*READS, *LANGUAGE),
    "runs list": READS,
    "spaces list": READS,
    "users list": READS,
    "keys list": READS,
    "variables list": tuple(one for one in READS if one != "cryptography"),
    "audit list": READS,
    "ask 'list the installed packages' --model offline": (
        *(one for one in HEAVY if one != "rapidfuzz"),
        *SERVER,
        "headgate.features.maintenance",
        *("headgate.features.knowledge.service", "headgate.toolkit.operations", "rich.markdown"),
        *("headgate.agents.codev", "httpx", "langsmith", "requests", "sqlalchemy.dialects.postgresql"),
    ),
    f"run {EXAMPLE} --text hello": (
        *HEAVY,
        *SERVER,
        *AGENTS,
        *("headgate.components.agent", "headgate.components.git", "headgate.features.connections.opening"),
        *(
            "headgate.features.mcptools.connector",
            "headgate.features.runs.store.postgres",
            "headgate.toolkit.workbench",
        ),
        *("headgate.features.maintenance", "headgate.features.testing", "rich.markdown", "structlog"),
    ),
    "version": (*READS, "typer", "pydantic", "sqlalchemy"),
}
"""Each command, and what it must not import."""
AT_START = tuple(one for one in HEAVY if one != "prometheus_client")
STEPS = (
    "headgate.entrypoints.adapters",
    "headgate.entrypoints.starter_workspaces",
    "headgate.features.accounts.identity",
    "headgate.features.accounts.tables",
    "headgate.features.catalog.own.check",
    "headgate.features.catalog.own.tables",
    "headgate.features.catalog.search",
    "headgate.features.files.tables",
    "headgate.features.flows",
    "headgate.features.mcptools",
    "headgate.features.models.tables",
    "headgate.features.runs.tables",
    "headgate.features.secrets",
    "headgate.features.workspace",
    "headgate.sandbox.pool",
)
"""What the first step of a run imports, and what the first request of a caller does."""

PROBE = """
import importlib.util
find_spec = importlib.util.find_spec
# Where this package is installed, Ollama's server is asked what it has, which needs the HTTP client.
importlib.util.find_spec = lambda name, package=None: None if name == "langchain_ollama" else find_spec(name, package)
import json, os, sys

class Watch:
    def __init__(self, refused):
        self.refused, self.chains = refused, {}

    def find_spec(self, name, path=None, target=None):
        for one in self.refused:
            if name == one or name.startswith(one + "."):
                self.chains.setdefault(one, [*self._importers(), name])
        return None

    def _importers(self):
        frame, names = sys._getframe(2), []
        while frame is not None:
            name = frame.f_globals.get("__name__", "")
            if frame.f_code.co_name != "_find_spec" and not name.startswith("importlib") and name not in names[-1:]:
                names.append(name)
            frame = frame.f_back
        return names[::-1]

watch = Watch(json.loads(sys.argv[1]))
sys.meta_path.insert(0, watch)

def report():
    print("\\nCHAINS " + json.dumps(watch.chains))
"""
RUN = """
from contextlib import suppress
from headgate.entrypoints import cli
sys.argv = ["headgate", *sys.argv[2:]]
with suppress(SystemExit):
    cli.main()
report()
"""
SERVE = """
import asyncio
from headgate.entrypoints.cli import serve
from headgate.entrypoints.http import app as application
from headgate.foundation.settings import Settings

async def start():
    app = application.create_app(Settings())
    async with app.router.lifespan_context(app):
        report()

asyncio.run(start())
"""


def chains(folder: Path, code: str, refused: tuple[str, ...], *arguments: str) -> str:
    """For each refused package that was imported, the modules that led to it; empty when there is none."""
    environment = os.environ | {"HEADGATE_DATA_DIR": str(folder), "HEADGATE_LOG__LEVEL": "error"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE + code, json.dumps(refused), *arguments],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    imports = json.loads(done.stdout.rpartition("CHAINS ")[2].splitlines()[0])
    return "\n".join(f"{name}: {' -> '.join(dict.fromkeys(chain))}" for name, chain in imports.items())


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose database exists: making it imports what a later start never does."""
    folder = tmp_path_factory.mktemp("data")
    chains(folder, RUN, (), "flows", "list")
    return folder


class TestCommands:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_import_only_what_they_use(self, installation: Path, command: str) -> None:
        refused_imports = chains(installation, RUN, COMMANDS[command], *shlex.split(command))
        assert not refused_imports, (
            f"`headgate {command}` imports what it does not use; see foundation/lazy.py:\n{refused_imports}"
        )

    def test_collect_garbage_once_they_are_imported(self, installation: Path) -> None:
        code = "import gc\n" + RUN.replace("report()", "watch.chains = dict(enabled=[str(gc.isenabled())]); report()")
        assert chains(installation, code, (), "flows", "list") == "enabled: True"

    def test_end_with_their_output_written(self, installation: Path) -> None:
        made = subprocess.run(
            [sys.executable, "-c", "from headgate.entrypoints.cli import main; main()", "validate", "no-such.flow"],
            env=os.environ | {"HEADGATE_DATA_DIR": str(installation)},
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert made.returncode == 3
        assert b"no-such.flow" in made.stdout


class TestServer:
    def test_imports_agents_and_routes_after_its_start(self, installation: Path) -> None:
        refused = (
            *AT_START,
            *AGENTS,
            *LATER,
            *STEPS,
            "headgate.components",
            "headgate.features.models.service",
            "headgate.features.runs.routes",
            "headgate.toolkit",
            "rich",
            "sqlalchemy.dialects.postgresql",
        )
        refused_imports = chains(installation, SERVE, refused)
        assert not refused_imports, f"a start of the server imports what only a request needs:\n{refused_imports}"

    def test_would_be_seen(self, installation: Path) -> None:
        imports = chains(installation, SERVE, ("headgate.entrypoints.services",))
        assert "headgate.entrypoints.compose" in imports
