"""What only the page sees of a conversation, in figures (seed 000 section 7.1). Counts and durations, never a text."""

from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import Instruments

log = get_logger(__name__)

PageEvent = Literal[
    "flow_proposal_continue",
    "flow_proposal_dismiss",
    "flow_tail_update_buffered",
    "plan_dismiss",
    "plan_reset",
    "skip_all_toggle",
    "skip_all_auto_approve",
    "input_history_recall",
]
MOST_AT_ONCE = 1_000
MOST_TIMES = 50
MOST_USERS = 10_000
"""Users whose choice to skip every gate is remembered; the one who chose it first is forgotten for the next."""
_LOGGED: Mapping[PageEvent, str] = MappingProxyType(
    {
        "flow_tail_update_buffered": "flow_builder.tail_updates.buffered",
        "skip_all_toggle": "assistant.skip_all.toggled",
        "input_history_recall": "assistant.input_history.recall",
    }
)


class PageMetrics(BaseModel):
    """What happened in one window since its last batch."""

    model_config = ConfigDict(extra="forbid")

    counts: dict[PageEvent, Annotated[int, Field(ge=1, le=MOST_AT_ONCE)]] = Field(
        default_factory=dict, description="How often each of these happened."
    )
    apply_ms: list[Annotated[float, Field(ge=0, le=600_000, allow_inf_nan=False)]] = Field(
        default_factory=list,
        max_length=MOST_TIMES,
        description="Milliseconds from adding each proposal to its nodes being on the canvas.",
    )
    skip_all: bool | None = Field(default=None, description="Whether every gate is hidden; null when unchanged.")


class PageFigures:
    """Counts what pages report, and who hides every gate now.

    Args:
        instruments: What counts.
    """

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments
        self._skipping: OrderedDict[str, None] = OrderedDict()

    def add(self, user_id: str, batch: PageMetrics) -> None:
        """Count a batch of a user's window."""
        for event, amount in batch.counts.items():
            self._instruments.count(f"assistant_{event}", amount=amount)
            if event in _LOGGED:
                log.info(_LOGGED[event], count=amount)
        for milliseconds in batch.apply_ms:
            self._instruments.observe("assistant_flow_apply_duration_ms", milliseconds)
        if batch.skip_all is not None:
            self._remember(user_id, skips=batch.skip_all)

    def _remember(self, user_id: str, *, skips: bool) -> None:
        self._skipping.pop(user_id, None)
        if skips:
            self._skipping[user_id] = None
        if len(self._skipping) > MOST_USERS:
            self._skipping.popitem(last=False)
        self._instruments.gauge("assistant_skip_all_enabled_count", len(self._skipping))
