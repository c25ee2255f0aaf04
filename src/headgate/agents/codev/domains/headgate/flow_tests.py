"""Accepted cases, kept as the flow's test set."""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.features.access.principal import Principal
from headgate.features.testing import service as testing
from headgate.foundation.database import Database
from headgate.graph.cases import TestCase


@dataclass(frozen=True, slots=True)
class FlowTestSets:
    """A `ports.TestSets` over the test sets of flows, as one person."""

    database: Database
    principal: Principal

    async def keep(self, flow_id: str, cases: Sequence[TestCase]) -> None:
        """Keep them, by name. Raises `FlowNotFound`, `PermissionMissing`, `TestSetInvalid` when they are too many."""
        async with self.database.writing() as session:
            await testing.keep_cases(session, self.principal, flow_id, cases)
