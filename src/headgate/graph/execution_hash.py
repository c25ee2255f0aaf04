"""Hashes that decide whether a finished step may be kept (seed 002, Resume Determinism).

What counts: what the step is (component, params, code, policy), what is attached to it, what leads into it, which
outputs it gives, and the input it saw. What never counts: labels, positions, names and descriptions, order of members.
"""

import hashlib
from collections.abc import Mapping

from pydantic import JsonValue

from headgate.graph.canonical import node_logic, sha256_of
from headgate.graph.plan import Attachment, PlanStep


def step_logic_hash(step: PlanStep, resolved: Mapping[str, JsonValue] | None = None) -> str:
    """What a step does, whatever its input: the same in every run and version in which it does the same.

    Args:
        step: The step in its plan.
        resolved: Facts from outside the flow that decide what the step does: prompt of a linked assistant, effective
            model parameters, version of the component's code.
    """
    seen: dict[int, JsonValue] = {}
    return sha256_of(
        {
            "node": node_logic(step.node),
            "inbound": [edge.id for edge in step.inbound],
            "outputs": list(step.outputs),
            "attachments": [_attachment_logic(one, seen) for one in step.attachments],
            "resolved": dict(resolved or {}),
        }
    )


def input_context_hash(value: JsonValue) -> str:
    """Hash of the input a step saw: its resolved fields, as JSON. Order of members does not count."""
    return sha256_of(value)


def step_execution_hash(
    step: PlanStep,
    *,
    run_pin: str,
    input_context: str,
    resolved: Mapping[str, JsonValue] | None = None,
    logic: str = "",
) -> str:
    """The hash of one execution of a step.

    Args:
        step: The step in its plan.
        run_pin: What the run is pinned to, for example `run id:flow version`.
        input_context: `input_context_hash` of what the step saw.
        resolved: See `step_logic_hash`.
        logic: The step's `step_logic_hash`, where it is known already: it is the same in every run.
    """
    parts = (run_pin, step.id, logic or step_logic_hash(step, resolved), input_context)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _attachment_logic(attachment: Attachment, seen: dict[int, JsonValue]) -> JsonValue:
    """The hash of an attachment and everything attached to it; one that is shared is hashed once."""
    key = id(attachment)
    if key not in seen:
        inner = [_attachment_logic(one, seen) for one in attachment.attachments]
        seen[key] = sha256_of({"edge": attachment.edge.id, "node": node_logic(attachment.node), "attachments": inner})
    return seen[key]
