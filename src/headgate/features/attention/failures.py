"""Failed runs grouped by the same error: flow, error code, step and normalised message."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from headgate.features.attention.fingerprints import fingerprint


@dataclass(slots=True)
class FailureGroup:
    """Runs of a flow that failed with the same error; `latest` is the row of the newest."""

    key: str
    latest: Any
    first_at: int
    last_at: int
    release: int
    """The first published release among them."""
    run_ids: list[str] = field(default_factory=list)
    """Newest first."""


def group_failures(rows: Iterable[Any]) -> list[FailureGroup]:
    """Group rows of `repository.failed_runs`, which are the newest first; so are the groups."""
    groups: dict[str, FailureGroup] = {}
    for row in rows:
        key = f"failed_runs:{row.flow_id}:{fingerprint(row.error_code or '', row.step_id or '', row.message or '')}"
        group = groups.get(key)
        if group is None:
            group = groups[key] = FailureGroup(key, row, row.created_at, row.created_at, row.release)
        group.run_ids.append(row.id)
        group.first_at, group.last_at = min(group.first_at, row.created_at), max(group.last_at, row.created_at)
        group.release = min(group.release, row.release)
    return list(groups.values())
