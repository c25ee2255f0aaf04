"""The distributed engine leaves in the audit log what every engine must: the server writes it, workers nothing."""

import pytest

from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    engine,
    engines,
    make_engine,
    processes,
    settings,
    workers,
)
from tests.integration.features.runs.conformance_audit import AuditConformance

pytestmark = pytest.mark.xdist_group("celery")


class TestCeleryAudit(AuditConformance):
    pass
