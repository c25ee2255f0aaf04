"""Recognises in the events of a run that it waits for an approval."""

from dataclasses import dataclass, field

from headgate.features.runs.waiting import WaitReason
from headgate.foundation.sse import SseEvent


@dataclass(slots=True)
class ApprovalWaits:
    """The steps of a run that wait for approvals, by the events that were read."""

    _steps: set[str] = field(default_factory=set)

    def note(self, event: SseEvent) -> bool:
        """Take an event. Returns whether only waiting steps were left then, one of them for an approval."""
        if event.kind == "run_waiting":
            return bool(self._steps)
        if event.kind.startswith("step_"):
            step_id = str(event.data.get("step_id"))
            self._steps.discard(step_id)
            if event.kind == "step_waiting" and event.data.get("reason") == WaitReason.APPROVAL:
                self._steps.add(step_id)
        return False
