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
from tests.integration.features.runs.conformance_approvals import ApprovalConformance, ApprovalDeathConformance
from tests.integration.features.runs.conformance_breakpoints import BreakpointConformance, BreakpointDeathConformance
from tests.integration.features.runs.conformance_deadlines import DeadlineConformance
from tests.integration.features.runs.conformance_error_flows import ErrorFlowConformance
from tests.integration.features.runs.conformance_events import EventConformance, EventDeathConformance
from tests.integration.features.runs.conformance_maps import MapConformance
from tests.integration.features.runs.conformance_pauses import PauseConformance
from tests.integration.features.runs.conformance_retries import RetryConformance, RetryDeathConformance
from tests.integration.features.runs.conformance_slots import SlotConformance
from tests.integration.features.runs.conformance_subflows import SubflowConformance
from tests.integration.features.runs.conformance_waits import WaitConformance

pytestmark = pytest.mark.xdist_group("celery")


class TestCeleryBackend(BackendConformance):
    begins = RunStatus.QUEUED


class TestCelerySlots(SlotConformance):
    """Slots of flows, keys and models with real workers."""


class TestCeleryErrorFlows(ErrorFlowConformance):
    """Handlers of failures with real workers."""


class TestCelerySubflows(SubflowConformance):
    """Flows that run flows."""


class TestCeleryMaps(MapConformance):
    """Tools that are called for each item, with real workers."""


class TestCeleryDeadlines(DeadlineConformance):
    """Deadlines of runs with workers."""


class TestCeleryPauses(PauseConformance):
    """Paused runs with workers."""


class TestCeleryBreakpoints(BreakpointConformance):
    """Runs that stop at breakpoints, on workers."""


class TestCeleryBreakpointsAfterDeaths(BreakpointDeathConformance):
    """Stopped runs whose worker is killed."""


class TestCeleryWaits(WaitConformance):
    """Waiting with workers."""


class TestCeleryApprovals(ApprovalConformance):
    """Tool calls that wait for approval."""


class TestCeleryApprovalsAfterDeaths(ApprovalDeathConformance):
    """Tool calls that wait for approval while their worker is killed."""


class TestCeleryEvents(EventConformance):
    """Events that steps wait for."""


class TestCeleryEventsAfterDeaths(EventDeathConformance):
    """Events after the death of a process."""


class TestCeleryRetries(RetryConformance):
    """Retries and what follows a failure."""


class TestCeleryRetriesAfterDeaths(RetryDeathConformance):
    """Retries of steps whose worker died."""


class TestCeleryBackendAfterDeaths(DeathConformance):
    begins = RunStatus.QUEUED
