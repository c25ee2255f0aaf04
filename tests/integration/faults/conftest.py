"""Installations of real processes, on both databases."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.entrypoints.own_services import OwnRedis
from headgate.foundation.settings import Settings
from tests.integration.faults.cluster import Cluster
from tests.integration.faults.installation import Installation
from tests.support.databases import Postgres


@pytest.fixture
def installation(settings: Settings) -> Iterator[Installation]:
    """A data folder and a database of its own; every process that was started is ended."""
    environment = {
        "HEADGATE_DATABASE__URL": settings.database.url,
        "HEADGATE_LOG__LEVEL": "warning",
        "HEADGATE_LOG__FORMAT": "json",
        "HEADGATE_ENGINE__MAX_CONCURRENT_RUNS": "8",
    }
    found = Installation(settings.data_dir, environment)
    yield found
    found.close()


@pytest.fixture
def own_postgres(worker_id: str) -> Iterator[Postgres]:
    """A PostgreSQL server of this test's own, to be killed: the others' must not die."""
    folder = Path(tempfile.mkdtemp(prefix=f"headgate-faults-{worker_id}-"))
    folder.chmod(0o755)
    server = Postgres(folder / "postgres", f"faults_{worker_id}", careless=("fsync",))
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def cluster(settings: Settings) -> Iterator[Cluster]:
    """A cluster on PostgreSQL with nothing started but its Redis. Its tests skip SQLite by their own `settings`."""
    redis = OwnRedis(settings.data_dir / "redis", durable=False)
    redis.start()
    environment = {
        "HEADGATE_DATABASE__URL": settings.database.url,
        "HEADGATE_LOG__LEVEL": "warning",
        "HEADGATE_LOG__FORMAT": "json",
    }
    found = Cluster(settings.data_dir, environment)
    found.join(redis)
    yield found
    found.close()
