"""Result of the readiness check."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from headgate.graph.issues import Issue, raise_if_any

NeedKind = Literal["variable", "model", "mcp_server", "connection", "assistant", "host", "file"]
NeedState = Literal["ready", "missing", "unknown"]


class Need(BaseModel):
    """An external requirement of a flow's steps."""

    model_config = ConfigDict(frozen=True)

    kind: NeedKind
    name: str
    """For a host: name and port; empty when it depends on data. For a file: the form field, or empty. For a model:
    empty for the default model for steps when there is no installation to look it up.
    """
    state: NeedState
    """`unknown`: it is not known before the run, as for hosts, or there is no installation."""
    nodes: tuple[str, ...]
    """Ids of the nodes that use it."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a flow can run: errors, warnings, and external requirements."""

    errors: tuple[Issue, ...]
    warnings: tuple[Issue, ...] = ()
    needs: tuple[Need, ...] = ()

    @property
    def ready(self) -> bool:
        """Return whether a run can be started."""
        return not self.errors

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Errors, then warnings."""
        return (*self.errors, *self.warnings)

    def as_json(self, limit: int | None = None) -> dict[str, JsonValue]:
        """Return the result as a JSON object, with up to `most` issues."""
        issues: list[JsonValue] = [issue.as_json() for issue in self.issues]
        needs: list[JsonValue] = [need.model_dump(mode="json") for need in self.needs]
        return {"runnable": self.ready, "issues": issues[:limit], "needs": needs}

    def require(self) -> None:
        """Raise `FlowInvalid` with every error, if there is one."""
        raise_if_any(self.errors)


def gathered(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Merge needs of the same thing, in order of first occurrence."""
    groups: dict[tuple[NeedKind, str], list[Need]] = {}
    for need in needs:
        groups.setdefault((need.kind, need.name), []).append(need)
    return tuple(_joined(same) for same in groups.values())


def _joined(same: Sequence[Need]) -> Need:
    worst = max((need.state for need in same), key=("ready", "unknown", "missing").index)
    nodes = tuple(dict.fromkeys(node for need in same for node in need.nodes))
    return same[0].model_copy(update={"state": worst, "nodes": nodes})
