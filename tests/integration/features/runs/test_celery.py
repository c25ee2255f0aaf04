"""The distributed engine keeps the conformance suite, with real workers; and what only it does."""

import pytest

from headgate.features.runs.states import RunStatus
from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    connections_out,
    engine,
    engines,
    make_engine,
    processes,
    settings,
    workers,
)
from tests.integration.features.runs.conformance import BackendConformance, DeathConformance

pytestmark = pytest.mark.xdist_group("celery")


class TestCeleryBackend(BackendConformance):
    begins = RunStatus.QUEUED


class TestCeleryBackendAfterDeaths(DeathConformance):
    begins = RunStatus.QUEUED
