"""The answer of the readiness check."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from headgate.graph.issues import Issue, raise_if_any

NeedKind = Literal["variable", "model", "mcp_server", "assistant", "host", "file"]
NeedState = Literal["ready", "missing", "unknown"]


class Need(BaseModel):
    """Something outside the flow that its steps use."""

    model_config = ConfigDict(frozen=True)

    kind: NeedKind
    name: str
    """Of a host: name and port; empty when it is known only from data. Of a file: the form field, or empty. Of a model:
    empty for the default model for steps, where no installation says which that is."""
    state: NeedState
    """`unknown`: it cannot be known before the run, as with hosts, or there is no installation to look in."""
    nodes: tuple[str, ...]
    """Ids of the nodes that use it."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a flow can run: what prevents it, what is most likely not meant, and what it uses from outside."""

    errors: tuple[Issue, ...]
    warnings: tuple[Issue, ...] = ()
    needs: tuple[Need, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether a start is accepted."""
        return not self.errors

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Errors, then warnings."""
        return (*self.errors, *self.warnings)

    def as_json(self, most: int | None = None) -> dict[str, JsonValue]:
        """The answer as a JSON object, `most` issues of it."""
        issues: list[JsonValue] = [issue.as_json() for issue in self.issues]
        needs: list[JsonValue] = [need.model_dump(mode="json") for need in self.needs]
        return {"runnable": self.ready, "issues": issues[:most], "needs": needs}

    def require(self) -> None:
        """Raise `FlowInvalid` with every error when there is one."""
        raise_if_any(self.errors)


def gathered(found: Iterable[Need]) -> tuple[Need, ...]:
    """Needs of the same thing as one, in the order in which they were first found."""
    whole: dict[tuple[NeedKind, str], list[Need]] = {}
    for need in found:
        whole.setdefault((need.kind, need.name), []).append(need)
    return tuple(_joined(same) for same in whole.values())


def _joined(same: Sequence[Need]) -> Need:
    worst = max((need.state for need in same), key=("ready", "unknown", "missing").index)
    nodes = tuple(dict.fromkeys(node for need in same for node in need.nodes))
    return same[0].model_copy(update={"state": worst, "nodes": nodes})
