"""The outputs of a step that failed and whose policy lets the run continue."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from headgate.features.runs.errors import PolicyUnmet
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.policies import shape_output
from headgate.features.runs.transitions import Failed
from headgate.graph.model import InputSource
from headgate.graph.ports import PortType
from headgate.graph.template import ERROR_OUTPUT
from headgate.sdk import File, Message, Table
from headgate.sdk.coerce import ValueMismatch, coerce, encode


def continues(step: PlannedStep) -> bool:
    """Return whether the run continues after the step has failed."""
    return step.step.policy.on_error != "fail"


def outputs_after(run: ActiveRun, step: PlannedStep, failed: Failed) -> Outputs:
    """Return what the policy of a failed step outputs. Raises `Invalid` when it cannot become the main output."""
    policy = step.step.policy
    if policy.on_error == "error_edge":
        return {ERROR_OUTPUT: error_data(run, step, failed)}
    if policy.on_error == "default_value":
        return shape_output(step, _main(step, policy.default_value))
    return _main(step, error_data(run, step, failed))


def error_data(run: ActiveRun, step: PlannedStep, failed: Failed) -> dict[str, JsonValue]:
    """Return an error as data. `input` is null where the output may have a lower classification than the input."""
    tries = run.tries.get(step.id)
    lowered = step.step.policy.output_classification_override is not None
    return {
        "code": failed.code,
        "message": failed.message,
        "step": step.id,
        "attempt": 1 + (tries.failures if tries is not None else 0),
        "input": None if lowered else dict(_input(run, step)),
        **({"inner": dict(failed.inner)} if failed.inner else {}),
    }


def passed_through(step: PlannedStep, values: Mapping[str, Any]) -> Outputs:
    """Return the main input of a disabled step as its used outputs; where they are branches, as the main one.

    Raises `PolicyUnmet` where one of them has another type.
    """
    main = step.step.template.main_field
    value = values.get(main.name) if main is not None else None
    if value is None:
        return {}
    if main is not None and main.many and isinstance(value, list) and len(value) == 1:
        value = value[0]
    branches = {output.name for output in step.step.template.outputs if output.branch and output.name != ERROR_OUTPUT}
    passed: dict[str, JsonValue] = {}
    for name, type_ in step.outputs:
        if name in step.added_outputs or (branches and name != step.main_output):
            continue
        try:
            passed[name] = encode(coerce(value, _type_of(value), (type_,)), type_)
        except ValueMismatch as error:
            raise PolicyUnmet(
                f"Step '{step.id}' is disabled, and its input cannot become its output '{name}' of type {type_}: "
                f"{error}",
                remedy="Enable the step, or set disabled to skip.",
            ) from error
    return passed


def _type_of(value: object) -> PortType:
    types: dict[type, PortType] = {
        str: PortType.TEXT,
        Message: PortType.MESSAGE,
        Table: PortType.TABLE,
        File: PortType.FILE,
    }
    return types.get(type(value), PortType.DATA)


def _input(run: ActiveRun, step: PlannedStep) -> Mapping[str, JsonValue]:
    """Return the values of the edges into a step by field, and the run's input where the step reads it."""
    arrived: dict[str, JsonValue] = {}
    if step.step.policy.input_source is InputSource.FLOW_INPUT or step.step.template.reads_input:
        arrived["flow_input"] = {"text": run.input.text, **run.input.form_data}
    for inlet in step.inlets:
        values = [run.ledger.results[feed.source][feed.output] for feed in inlet.feeds if run.ledger.alive(feed)]
        if values:
            arrived[inlet.field] = list(values) if inlet.many else values[0]
    return arrived


def _main(step: PlannedStep, value: JsonValue) -> dict[str, JsonValue]:
    name = step.main_output
    if name is None:
        return {}
    type_ = dict(step.outputs)[name]
    try:
        return {name: encode(coerce(value, PortType.DATA, (type_,)), type_)}
    except ValueMismatch as error:
        raise PolicyUnmet(
            f"The default value of step '{step.id}' cannot become its output '{name}' of type {type_}: {error}",
            remedy="Change default_value in the step's policy.",
        ) from error
