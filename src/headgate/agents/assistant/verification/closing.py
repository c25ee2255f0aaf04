"""What `complete` says. What was done is read from the flow, not from the model's words."""

from typing import Any

from headgate.agents.assistant.generation.request import members_of
from headgate.agents.assistant.turn.turn import Turn
from headgate.agents.assistant.turn_flow import TurnFlow
from headgate.agents.assistant.verification.report import report


def completed(turn: Turn, turn_flow: TurnFlow, result: str) -> dict[str, Any]:
    """The data of `complete` without what the turn cost; see `service`."""
    bench = turn.bench
    data: dict[str, Any] = {
        "result": result,
        "validated": True,
        "declined": turn.declined,
        "choices": list(turn.choices),
        "model": turn.model_name,
        "flow": bench.flow.model_dump(mode="json") if bench.changed else None,
        "flow_id": turn_flow.flow_id,
        "revision": turn_flow.revision,
        "saved": turn_flow.stored == bench.flow,
        "kept_version": turn_flow.kept_version,
        "issues": [issue.as_json() for issue in bench.check(bench.flow).issues] if bench.changed else [],
        **report(turn, result),
    }
    if bench.component is not None:
        data |= members_of(bench.component)
    if bench.runs:
        last = bench.runs[-1]
        data["run_id"] = last.run_id
        data["run_status"] = last.status
        data["run_metrics"] = {
            "duration_seconds": last.duration_ms / 1000,
            "input_tokens": last.input_tokens,
            "output_tokens": last.output_tokens,
            "total_tokens": last.input_tokens + last.output_tokens,
        }
    return data
