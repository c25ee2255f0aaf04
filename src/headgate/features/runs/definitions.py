"""Contents of the versions that runs are pinned to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.graph.model import Flow

if TYPE_CHECKING:
    from headgate.features.flows import versions
else:
    versions = lazy_module("headgate.features.flows.versions")


@dataclass(frozen=True, slots=True)
class VersionContents:
    """The content of immutable versions."""

    database: Database

    async def __call__(self, key: RunKey) -> Flow:
        """Return the flow of that version."""
        return await versions.read_definition(
            self.database, tenant_id=key.tenant_id, flow_id=key.flow_id, version=key.version
        )
