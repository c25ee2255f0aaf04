"""Result of a job, in total and by tenant."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Outcome:
    """Counts of deleted objects or, for a dry run, of those that would be."""

    runs: int = 0
    sessions: int = 0
    """Of the development agent."""
    artifacts: int = 0
    contents: int = 0
    """Contents in the storage without a record."""
    bytes: int = 0
    """Of the artifacts."""
    keys: int = 0
    """Expired idempotency keys."""
    events: int = 0
    """Expired events that were sent to steps."""
    flows: int = 0
    """Flows deleted from the trash."""
    occurrences: int = 0
    """Old occurrences of triggers."""
    alerts: int = 0
    """Old alerts."""
    documents: int = 0
    """Documents of knowledge bases."""
    vectors: int = 0
    """Embeddings that were put into groups."""
    tenants: dict[str, dict[str, int]] = field(default_factory=dict)
    """Runs, sessions and artifacts by tenant."""

    def count(self, tenant_id: str, *, runs: int = 0, sessions: int = 0, artifacts: int = 0, size: int = 0) -> None:
        """Add to the counts of a tenant."""
        self.runs += runs
        self.sessions += sessions
        self.artifacts += artifacts
        self.bytes += size
        counts = self.tenants.setdefault(tenant_id, {"runs": 0, "sessions": 0, "artifacts": 0})
        counts["runs"] += runs
        counts["sessions"] += sessions
        counts["artifacts"] += artifacts

    def as_json(self) -> dict[str, Any]:
        """Return the stored form of the outcome."""
        return {
            "runs": self.runs,
            "sessions": self.sessions,
            "artifacts": self.artifacts,
            "contents": self.contents,
            "bytes": self.bytes,
            "keys": self.keys,
            "events": self.events,
            "flows": self.flows,
            "occurrences": self.occurrences,
            "alerts": self.alerts,
            "documents": self.documents,
            "vectors": self.vectors,
            "tenants": self.tenants,
        }
