"""Previews a session's rollback for users."""

from collections.abc import Sequence

from headgate.agents.codev.domain import Held, Workplace
from headgate.agents.codev.schemas import RollbackFlow, RollbackOutcome, RollbackPreview
from headgate.agents.codev.writing.rollback import Choice, FlowRollback, token_of
from headgate.foundation.log import redact_text

MOST_LINES = 400
"""Lines of one comparison that are shown."""
_GONE = {"+": "-", "-": "+"}


def preview_of(flows: Sequence[FlowRollback], workplace: Workplace) -> RollbackPreview:
    """The preview, flow by flow."""
    shown = [_flow(flow, workplace) for flow in flows]
    return RollbackPreview(token=token_of(flows), conflict=any(flow.conflict for flow in flows), flows=shown)


def _flow(flow: FlowRollback, workplace: Workplace) -> RollbackFlow:
    outcome, changes = _outcome(flow, "take_mine", workplace)
    outcome_keeping, changes_keeping = _outcome(flow, "keep_theirs", workplace)
    return RollbackFlow(
        flow_id=flow.flow_id,
        name=flow.name,
        link=workplace.link(flow.flow_id) if flow.now is not None else "",
        conflict=flow.conflict,
        deleted=flow.now is None,
        theirs=_shown(flow.theirs),
        outcome=outcome,
        changes=changes,
        outcome_keeping=outcome_keeping,
        changes_keeping=changes_keeping,
    )


def _outcome(flow: FlowRollback, choice: Choice, workplace: Workplace) -> tuple[RollbackOutcome, list[str]]:
    now, target = flow.now, flow.target(choice)
    if (now.mark if now else None) == (target.mark if target else None):
        return "unchanged", []
    return ("restored" if target is not None else "removed"), _shown(_lines(now, target, workplace))


def _lines(now: Held | None, target: Held | None, workplace: Workplace) -> list[str]:
    if target is not None:
        return workplace.compare(now.definition if now is not None else None, target.definition)
    lines = workplace.compare(None, now.definition) if now is not None else []
    return [f"{_GONE.get(line[:1], line[:1])}{line[1:]}" for line in lines]


def _shown(lines: Sequence[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return [*(redact_text(line) for line in lines[:MOST_LINES]), *([f"~ {more} more lines"] if more > 0 else [])]
