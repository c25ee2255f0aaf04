"""The distributed engine resumes, re-uses and reconciles as every engine must, with real workers."""

import pytest

from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    engine,
    engines,
    make_engine,
    processes,
    settings,
    workers,
)
from tests.integration.features.runs.conformance_resume import ReconcilerConformance, ResumeConformance

pytestmark = pytest.mark.xdist_group("celery")


class TestCeleryResume(ResumeConformance):
    pass


class TestCeleryReconciler(ReconcilerConformance):
    pass
