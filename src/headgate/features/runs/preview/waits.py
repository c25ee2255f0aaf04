"""What the steps of a plan would wait for. Pure."""

from pydantic import JsonValue

from headgate.features.runs.preview.schemas import DryWait
from headgate.graph.plan import PlanStep


def wait_of(step: PlanStep) -> DryWait | None:
    """Return what a step would wait for, as it is written: values that the run decides stay references."""
    params = step.node.params
    approval = step.policy.tool_approval
    if approval is not None:
        hours = approval.timeout_hours
        return DryWait(reason="approval", tools=list(approval.tools), seconds=hours and hours * 3600)
    match step.node.type:
        case "WaitForEvent":
            return DryWait(
                reason="event",
                event=_text(params.get("event")),
                correlation=_text(params.get("correlation")),
                seconds=_seconds(params.get("timeout_hours"), 3600),
            )
        case "WaitForState":
            until, seconds = _text(params.get("until")), _seconds(params.get("timeout_hours"), 3600)
            return DryWait(reason="time", until=until, seconds=seconds)
        case "Loop" if _seconds(params.get("pause_seconds"), 1):
            until, seconds = _text(params.get("until")), _seconds(params.get("timeout_hours"), 3600)
            return DryWait(reason="time", until=until, seconds=seconds)
        case "Approval":
            return DryWait(reason="approval", seconds=_seconds(params.get("timeout_hours"), 3600))
        case "Wait":
            until, cron = _text(params.get("until")), _text(params.get("cron"))
            seconds = None if until or cron else _seconds(params.get("seconds", 1), 1)
            return DryWait(reason="time", until=until, cron=cron, seconds=seconds)
    return None


def _text(value: JsonValue) -> str:
    return value[:500] if isinstance(value, str) else ""


def _seconds(value: JsonValue, factor: float) -> float | None:
    """Return seconds; None for no limit, and for a value that only the run knows."""
    try:
        return float(value) * factor or None if isinstance(value, str | int | float) else None
    except ValueError:
        return None
