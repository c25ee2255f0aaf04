"""The distributed engine carries out parts of flows as every engine must."""

import pytest

from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    engine,
    engines,
    make_engine,
    processes,
    settings,
    workers,
)
from tests.integration.features.runs.conformance_parts import PartConformance

pytestmark = pytest.mark.xdist_group("celery")


class TestCeleryParts(PartConformance):
    pass
