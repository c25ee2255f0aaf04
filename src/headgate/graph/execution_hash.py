"""Hashes that decide whether a finished step can be reused (seed 002, Resume Determinism).

Included: the step (component, params, code, policy), its attachments, its inbound edges, its outputs, and its input.
Excluded: labels, positions, names and descriptions, order of members.
"""

import hashlib
from collections.abc import Mapping

from pydantic import JsonValue

from headgate.graph.canonical import node_logic, sha256_of
from headgate.graph.model import StepPolicy
from headgate.graph.plan import Attachment, PlanStep


def step_logic_hash(step: PlanStep, resolved: Mapping[str, JsonValue] | None = None) -> str:
    """The hash of a step's behaviour, whatever its input: equal in every run and version with the same behaviour.

    Args:
        step: The step in its plan.
        resolved: External facts that affect the step: prompt of a linked assistant, effective model parameters, version
            of the component's code.
    """
    hashes: dict[int, JsonValue] = {}
    return sha256_of(
        {
            "node": node_logic(step.node.model_copy(update={"policy": _lasting(step.policy)})),
            "inbound": [edge.id for edge in step.inbound],
            "outputs": list(step.outputs),
            "attachments": [_attachment_logic(attachment, hashes) for attachment in step.attachments],
            "resolved": dict(resolved or {}),
        }
    )


def step_execution_hash(
    step: PlanStep,
    *,
    run_pin: str,
    input_context: str,
    resolved: Mapping[str, JsonValue] | None = None,
    logic: str = "",
) -> str:
    """Return the hash of one execution of a step.

    Args:
        step: The step in its plan.
        run_pin: What the run is pinned to, for example `run id:flow version`.
        input_context: Hash of what the step saw.
        resolved: See `step_logic_hash`.
        logic: The step's `step_logic_hash`, where it is known already: it is the same in every run.
    """
    parts = (run_pin, step.id, logic or step_logic_hash(step, resolved), input_context)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


_HOW_OFTEN = ("retry", "timeout_seconds", "total_timeout_seconds", "concurrency")


def _lasting(policy: StepPolicy) -> StepPolicy:
    """Return a policy without the members that decide only how often, when and how long a step is attempted."""
    return policy.model_copy(update=dict.fromkeys(_HOW_OFTEN))


def _attachment_logic(attachment: Attachment, hashes: dict[int, JsonValue]) -> JsonValue:
    """Return the hash of an attachment and its nested ones; a shared one is hashed once."""
    key = id(attachment)
    if key not in hashes:
        inner = [_attachment_logic(attachment, hashes) for attachment in attachment.attachments]
        hashes[key] = sha256_of({"edge": attachment.edge.id, "node": node_logic(attachment.node), "attachments": inner})
    return hashes[key]
