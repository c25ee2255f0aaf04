"""The execution hash of a step in a run: what it did, on what input (seed 002, Resume Determinism)."""

import hashlib

import orjson
from pydantic import JsonValue

from headgate.features.runs.engine.active import ActiveRun
from headgate.features.runs.run_input import input_payload
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.recorder import Recorder
from headgate.graph.execution_hash import step_execution_hash

_RUN_INPUT = ("", "")


def execution_hash(run: ActiveRun, step: PlannedStep, recorder: Recorder) -> str:
    """The hash of one execution. The same step on the same input has the same one, in this run and after a recovery.

    The input is the run's own, what its edges brought, what its policy fetched, and, where it refers to steps by name,
    every output before it: more than it read perhaps, never less.
    """
    context: dict[str, JsonValue] = {"run": _digest(run, *_RUN_INPUT)}
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
    if recorder.input:
        context["policy"] = recorder.input
    return step_execution_hash(
        step.step,
        run_pin=f"{run.key.run_id}:{run.key.version}",
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
