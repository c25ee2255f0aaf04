"""The events of a turn, in the shapes of seed 000 section 6.2 and seed 001's API.

| event        | members                                                                                  |
|--------------|------------------------------------------------------------------------------------------|
| progress     | step, attempt, max_attempts, message; turn_id, session_id in the first; budget           |
| token        | chunk                                                                                    |
| flow_update  | action and what it concerns (`toolkit.actions`)                                          |
| flow_preview | flow, name, node_count, edge_count, graph                                                |
| file_written | action, path, size, content                                                              |
| run_update   | run_id, kind, data: a step started, ended ...                                            |
| complete     | data: result, validated, changes, usage, duration_seconds, run_metrics, flow, model ...  |
| error        | message, code, remedy                                                                    |
| cancelled    | message                                                                                  |
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import JsonValue

from headgate.foundation.errors import HeadgateError
from headgate.graph.draw import draw
from headgate.graph.model import Flow
from headgate.graph.template import Catalog
from headgate.toolkit.actions import Action

AssistEvent = dict[str, Any]
Step = Literal[
    "understanding",
    "budget",
    "generating_flow",
    "searching_components",
    "building_flow",
    "flow_built",
    "flow_build_failed",
    "flow_proposal_ready",
    "editing_flow",
    "running_flow",
    "orchestrating",
    "generating",
    "generating_component",
    "generation_complete",
    "extracting_code",
    "validating",
    "validated",
    "validation_failed",
    "retrying",
    "generating_document",
    "verifying_flow",
]
MESSAGES: dict[Step, str] = {
    "understanding": "Reading the request...",
    "budget": "What this turn may use at most.",
    "generating_flow": "Generating flow...",
    "searching_components": "Searching components...",
    "building_flow": "Building the flow...",
    "flow_built": "The flow is built.",
    "flow_build_failed": "The flow was not valid; correcting it...",
    "flow_proposal_ready": "The flow is ready for review.",
    "editing_flow": "Editing the flow...",
    "running_flow": "Running the flow...",
    "orchestrating": "Orchestrating...",
    "generating": "Writing the answer...",
    "generating_component": "Writing the component...",
    "generation_complete": "The code is written.",
    "extracting_code": "Checking the code...",
    "validating": "Testing the component in the sandbox...",
    "validated": "The component works.",
    "validation_failed": "The component did not pass its checks.",
    "retrying": "Correcting the component...",
    "generating_document": "Generating document...",
    "verifying_flow": "Checking that the flow runs...",
}


def progress(step: Step, *, attempt: int = 1, max_attempts: int = 1, **more: str) -> AssistEvent:
    """The turn has come to a new stage; `more` is `error`, `class_name`, `component_code` where there is any."""
    event = {"event": "progress", "step": step, "attempt": attempt, "max_attempts": max_attempts}
    return event | {"message": MESSAGES[step]} | more


def token(chunk: str) -> AssistEvent:
    """A piece of the answer's text."""
    return {"event": "token", "chunk": chunk}


def flow_update(action: Action) -> AssistEvent:
    """The working flow changed."""
    return {"event": "flow_update", **action}


def flow_preview(flow: Flow, catalog: Catalog) -> AssistEvent:
    """A whole new flow, with a drawing for terminals."""
    return {
        "event": "flow_preview",
        "flow": flow.model_dump(mode="json"),
        "name": flow.name,
        "node_count": len(flow.nodes),
        "edge_count": len(flow.edges),
        "graph": draw(flow, catalog),
    }


def file_written(written: dict[str, JsonValue]) -> AssistEvent:
    """A file of the workspace was written: `action`, `path`, `size` in bytes, and `content` of a whole file."""
    return {"event": "file_written", **written}


def run_update(run_id: str, kind: str, data: dict[str, JsonValue]) -> AssistEvent:
    """Something happened in the run that this turn started."""
    return {"event": "run_update", "run_id": run_id, "kind": kind, "data": data}


def complete(data: dict[str, Any]) -> AssistEvent:
    """The turn ended well."""
    return {"event": "complete", "data": data}


def failed(error: HeadgateError, used: Mapping[str, Any]) -> AssistEvent:
    """The turn ended with an error; `used` is what its model calls used until then, as `complete` reports it."""
    return {"event": "error", "message": error.detail, "code": error.code, "remedy": error.remedy, **used}


def cancelled(message: str = "The request was cancelled.") -> AssistEvent:
    """The turn was stopped."""
    return {"event": "cancelled", "message": message}
