"""The subject of an audit report as plain values: read by the service, printed by `pages`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headgate.features.runs.budgets.accounts import BudgetUse
from headgate.features.runs.evidence.masking import Mask
from headgate.features.runs.report.words import WORDS, Language, Words
from headgate.features.runs.reruns.costs import UNKNOWN, Cost
from headgate.features.runs.schemas import GraphNode
from headgate.graph.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Frozen:
    """The reported version."""

    version: int
    checksum: str
    logic_checksum: str
    headgate_version: str
    made_at: datetime
    release: int | None
    released_at: datetime | None
    notes: str


@dataclass(frozen=True, slots=True)
class Ran:
    """The reported run, from its evidence: without secrets and private answers."""

    entry: Mapping[str, Any]
    """The evidence entry of the run."""
    steps: Mapping[str, Mapping[str, Any]]
    """The evidence entry of each step, by id."""
    seal: Mapping[str, Any]
    started_by: str
    costs: Mapping[str, Cost] = field(default_factory=dict)
    total: Cost = UNKNOWN
    budgets: Sequence[BudgetUse] = ()
    """The budgets that the run charged."""


@dataclass(frozen=True, slots=True)
class Subject:
    """All data of a report."""

    flow_id: str
    revision: int
    creator: str
    created_at: datetime
    updated_at: datetime
    printed_at: datetime
    wiring: Wiring
    nodes: Mapping[str, GraphNode]
    mask: Mask
    """Masks the values of secrets, wherever a user may have typed one."""
    language: Language = "en"
    frozen: Frozen | None = None
    ran: Ran | None = None

    @property
    def words(self) -> Words:
        """The texts in the report's language."""
        return WORDS[self.language]
