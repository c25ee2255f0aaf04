"""What a job did, counted, in all and by tenant."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Outcome:
    """Counts of what was deleted, or, of a dry run, would have been."""

    runs: int = 0
    sessions: int = 0
    """Of the development agent."""
    artifacts: int = 0
    contents: int = 0
    """Contents in the storage that no record named."""
    bytes: int = 0
    """Of the artifacts."""
    keys: int = 0
    """Expired idempotency keys."""
    tenants: dict[str, dict[str, int]] = field(default_factory=dict)
    """Runs, sessions and artifacts by tenant."""

    def count(self, tenant_id: str, *, runs: int = 0, sessions: int = 0, artifacts: int = 0, size: int = 0) -> None:
        """Add to the counts of a tenant."""
        self.runs += runs
        self.sessions += sessions
        self.artifacts += artifacts
        self.bytes += size
        mine = self.tenants.setdefault(tenant_id, {"runs": 0, "sessions": 0, "artifacts": 0})
        mine["runs"] += runs
        mine["sessions"] += sessions
        mine["artifacts"] += artifacts

    def as_json(self) -> dict[str, Any]:
        """The outcome as it is stored."""
        return {
            "runs": self.runs,
            "sessions": self.sessions,
            "artifacts": self.artifacts,
            "contents": self.contents,
            "bytes": self.bytes,
            "keys": self.keys,
            "tenants": self.tenants,
        }
