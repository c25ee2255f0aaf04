"""The execution hash of a step in a run: what it did, on what input (seed 002, Resume Determinism)."""

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
    """The hash of one execution. The same step on the same input has the same one, in this run and after a recovery."""
    pin = run_pin(run.key.run_id, run.key.version)
    return hash_of(run, step, recorder.input, pin=pin, reads_input=step.reads_input or recorder.read_input)


def run_pin(run_id: str, version: int) -> str:
    """What an execution is pinned to."""
    return f"{run_id}:{version}"


def hash_of(run: ActiveRun, step: PlannedStep, given: Mapping[str, JsonValue], *, pin: str, reads_input: bool) -> str:
    """The hash of an execution of a step on what a run's ledger holds.

    What counts is the run's input where the step looked at it, what its edges brought, what its policy fetched, and,
    where it refers to steps by name, every output before it: more than it read perhaps, never less.

    Args:
        run: Holds the input and the outputs of the steps before.
        step: The step.
        given: What its policy brought, as recorded.
        pin: See `run_pin`.
        reads_input: Whether the step looked at what the run was started with.
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
            before: {output: _digest(run, before, output) for output in run.ledger.results.get(before, ())}
            for before in run.planned.plan.ancestors(step.id)
        }
    if given:
        context["policy"] = dict(given)
    return step_execution_hash(
        step.step,
        run_pin=pin,
        input_context=hashlib.sha256(orjson.dumps(context, option=orjson.OPT_SORT_KEYS)).hexdigest(),
        logic=step.logic,
    )


def _digest(run: ActiveRun, step_id: str, output: str) -> str:
    """The hash of a step's output, or of the run's input; worked out once a run."""
    found = run.digests.get((step_id, output))
    if found is None:
        if (step_id, output) == _RUN_INPUT:
            content = input_payload(run.input).encode()
        else:
            content = orjson.dumps(run.ledger.results[step_id][output], option=orjson.OPT_SORT_KEYS)
        found = run.digests[step_id, output] = hashlib.sha256(content).hexdigest()
    return found
