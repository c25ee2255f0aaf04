"""The execution hash of a step: its logic and its input (seed 002, Resume Determinism)."""

import hashlib
from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from headgate.features.runs.run_input import input_payload
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.recorder import Recorder
from headgate.graph.execution_hash import step_execution_hash

_RUN_INPUT = ("", "")


def execution_hash(run: ActiveRun, step: PlannedStep, recorder: Recorder) -> str:
    """Return the hash of one execution. It is the same for the same step and input, also after a recovery."""
    pin = run_pin(run.key.run_id, run.key.version)
    return hash_of(run, step, recorder.input, pin=pin, reads_input=step.reads_input or recorder.read_input)


def run_pin(run_id: str, version: int) -> str:
    """Return what an execution is pinned to."""
    return f"{run_id}:{version}"


def hash_of(
    run: ActiveRun, step: PlannedStep, policy_input: Mapping[str, JsonValue], *, pin: str, reads_input: bool
) -> str:
    """Return the hash of an execution of a step on the contents of a run's ledger.

    Covers the run's input if the step read it, values of edges, policy inputs, and, if the step refers to others by
    name, every earlier output: possibly more than it read, never less.

    Args:
        run: Holds the input and the outputs of the steps before.
        step: The step.
        policy_input: Recorded input from its policy.
        pin: See `run_pin`.
        reads_input: Whether the step read the run's input.
    """
    context: dict[str, JsonValue] = {}
    if reads_input:
        context["run"] = _digest(run, *_RUN_INPUT)
    if step.inlets:
        context["edges"] = {
            inlet.field: [_digest(run, feed.source, feed.output) for feed in inlet.feeds if run.ledger.alive(feed)]
            for inlet in step.inlets
        }
    if step.refers or step.attached or not step.plain:
        context["before"] = {
            ancestor: {output: _digest(run, ancestor, output) for output in run.ledger.results.get(ancestor, ())}
            for ancestor in run.planned.plan.ancestors(step.id)
        }
    if policy_input:
        context["policy"] = dict(policy_input)
    return step_execution_hash(
        step.step,
        run_pin=pin,
        input_context=hashlib.sha256(orjson.dumps(context, option=orjson.OPT_SORT_KEYS)).hexdigest(),
        logic=step.logic,
    )


def _digest(run: ActiveRun, step_id: str, output: str) -> str:
    """Return the hash of a step's output, or of the run's input; computed once per run."""
    digest = run.digests.get((step_id, output))
    if digest is None:
        if (step_id, output) == _RUN_INPUT:
            content = input_payload(run.input).encode()
        else:
            content = orjson.dumps(run.ledger.results[step_id][output], option=orjson.OPT_SORT_KEYS)
        digest = run.digests[step_id, output] = hashlib.sha256(content).hexdigest()
    return digest
