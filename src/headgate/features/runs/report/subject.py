"""What an audit report is about, as plain values: read by the service, printed by the pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headgate.features.runs.evidence.masking import Mask
from headgate.features.runs.report.words import WORDS, Language, Words
from headgate.features.runs.reruns.costs import UNKNOWN, Cost
from headgate.features.runs.schemas import GraphNode
from headgate.graph.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Frozen:
    """The version that is told of."""

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
    """The run that is told of, out of its evidence: secrets and private answers are not in it."""

    entry: Mapping[str, Any]
    """What the evidence says of the run."""
    steps: Mapping[str, Mapping[str, Any]]
    """What it says of each step, by id."""
    seal: Mapping[str, Any]
    started_by: str
    costs: Mapping[str, Cost] = field(default_factory=dict)
    total: Cost = UNKNOWN


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything that a report prints."""

    flow_id: str
    revision: int
    creator: str
    created_at: datetime
    updated_at: datetime
    printed_at: datetime
    wiring: Wiring
    nodes: Mapping[str, GraphNode]
    mask: Mask
    """Takes the values of secrets out, wherever somebody may have typed one."""
    language: Language = "en"
    frozen: Frozen | None = None
    ran: Ran | None = None

    @property
    def words(self) -> Words:
        """The words of its language."""
        return WORDS[self.language]
