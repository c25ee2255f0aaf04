"""Databases for every test: `settings` and `database` come once for each database that a test asks for.

A test that takes `settings` or `database` comes once for SQLite and once for PostgreSQL, the latter marked `postgres`;
`tests.support.selection` says which of both `make test` runs.
"""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings as hypothesis_settings

from headgate.features.models import listing
from headgate.features.models.listing import Listing
from headgate.features.models.providers import PROVIDERS
from headgate.foundation.database import Database
from headgate.foundation.settings import OutgoingSettings, Settings
from tests.support.databases import Postgres, SqliteFiles, make_settings, share_compiled_statements
from tests.support.disks import SmallDisk, mounted
from tests.support.figures import pytest_terminal_summary
from tests.support.properties import cases
from tests.support.selection import MARKERS, left_out

__all__ = ["pytest_terminal_summary"]
hypothesis_settings.register_profile("unhurried", cases(100))
hypothesis_settings.load_profile("unhurried")
share_compiled_statements()
gc.set_threshold(20_000)  # new objects; Python's own 700 are for programs that do not import half a million
# Without bytecode every process compiles everything again: 15 seconds for a worker of pytest, 2 for a server.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
MEMORY, MOST_BYTES = Path("/dev/shm"), 4_000_000_000
"""A disk in memory, and how much of it has to be free: there a commit waits for nothing, and deleting takes no time."""
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MOST_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())  # the default of charts is the working directory
KINDS = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))


LONG = (
    *(
        "simulation/",
        "integration/faults/",
        "integration/isolation/",
        "test_celery",
        "test_fuzz.py",
        "test_many_at_once.py",
    ),
    *("e2e/test_pictures.py", "e2e/test_runs.py", "e2e/test_sign_in.py"),
)
"""What takes long."""


def pytest_configure(config: pytest.Config) -> None:
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # a shell's background job: commands under test would hear none
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.fixture(autouse=True, scope="session")
def providers_are_not_asked() -> Iterator[None]:
    """No test asks a real provider for its models: at their own addresses none has a list."""
    real = {one.base_url.default for one in PROVIDERS.values() if one.base_url and not one.base_url.default_is_internal}
    real |= {address for one in PROVIDERS.values() for address in one.servers}
    ask = listing._Question.ask

    async def ask_others(question: listing._Question, outgoing: OutgoingSettings) -> Listing:
        return Listing() if question.address in real else await ask(question, outgoing)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing._Question, "ask", ask_others)
        yield


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long begins first: at the end no worker is left alone with it. A group stays on one worker."""
    if not_run := left_out(config, items):
        config.hook.pytest_deselected(items=not_run)
        leaving = set(map(id, not_run))
        items[:] = [item for item in items if id(item) not in leaving]
    if getattr(config.option, "loadgroup", False):
        for item in items:
            _name_with_group(item)
    items.sort(key=lambda item: not any(part in item.nodeid for part in LONG))


def _name_with_group(item: pytest.Item) -> None:
    """Do what pytest-xdist 3.8 means to do: it sets `_nodeid`, which pytest 9.2 no longer has, and groups nothing."""
    group = item.get_closest_marker("xdist_group")
    if group is not None and not item.nodeid.endswith(f"@{group.args[0]}"):
        item._id = NodeId.parse(f"{item.nodeid}@{group.args[0]}")


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: it is not looked through for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def sqlite_files(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    return SqliteFiles(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgres(worker_id: str) -> Iterator[Postgres]:
    # Not in pytest's own folder: a server started by root runs as another user, who may not pass through it.
    folder = Path(tempfile.mkdtemp(prefix=f"headgate-tests-{worker_id}-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    folder.chmod(0o755)
    server = Postgres(folder / "postgres", worker_id)
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=KINDS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a fresh, migrated database."""
    if request.param == "sqlite":
        files: SqliteFiles = request.getfixturevalue("sqlite_files")
        files.fresh(tmp_path)
        yield make_settings(tmp_path)
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.fresh() as url:
        yield make_settings(tmp_path, url)


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    found = Database(settings)
    yield found
    await found.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 4 MB that the test may fill."""
    with mounted(tmp_path / "disk", "4m") as disk:
        yield disk
