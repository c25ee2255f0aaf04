"""Partial runs: one step with its predecessors, or a step and its successors, with pinned outputs."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from headgate.features.access.principal import Principal
from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.payloads import Packer
from headgate.features.runs.steps.planned import PlannedFlow, PlannedStep
from headgate.features.runs.transitions import Part, Pinned, RunKey
from headgate.graph.names import did_you_mean
from headgate.graph.ports import PortType
from headgate.sdk.coerce import ValueMismatch, decode, encode
from headgate.sdk.outside import mark


def asks_for_part(start: RunStart) -> bool:
    """Whether a request asks for less than the complete flow."""
    return bool(start.pins or start.only_step or start.from_step)


async def part_of(services: Services, principal: Principal, key: RunKey, planned: PlannedFlow, start: RunStart) -> Part:
    """Return the part of the flow that a run executes. Raises `InputInvalid`, or `NotFound` for a file."""
    _check(planned, start)
    pins = {name: _outputs(planned.steps[name], pin) for name, pin in start.pins.items()}
    needed = _needed(planned, _targets(planned, start), pins)
    if not needed - pins.keys():
        raise InputInvalid("Every step to run is pinned: there is nothing to run.", remedy="Unpin at least one step.")
    used = [name for name in planned.steps if name in pins and name in needed]
    await services.files.given(principal, list(_files({name: pins[name] for name in used})))
    classes = await _classes(services, key, planned)
    packer = Packer(services.limits, services.files)
    pinned = []
    for name in used:
        # the origin of a pinned output is unknown: it may be content from the web
        marks = (mark("pinned", name),)
        packed = await packer.pack(Origin(key, name), planned.steps[name], pins[name], [], outside=marks)
        pinned.append(Pinned(name, packed.payload, classes.get(name)))
    left_out = tuple(name for name in planned.steps if name not in needed)
    return Part(start.only_step, start.from_step, tuple(pinned), left_out)


def pinned_files(planned: PlannedFlow, start: RunStart) -> list[str]:
    """Return the ids of files in pinned outputs: the run treats them like input files."""
    pins = {name: pin for name, pin in start.pins.items() if name in planned.steps}
    return list(dict.fromkeys(_files(pins)))


def _check(planned: PlannedFlow, start: RunStart) -> None:
    if start.version != "draft":
        raise InputInvalid("Only a run of the draft can execute part of the flow.", remedy="Omit `pins` and the steps.")
    if start.only_step and start.from_step:
        raise InputInvalid("A run either stops at a step or starts at one, not both.", remedy="Give one of the two.")
    for name in filter(None, [start.only_step, start.from_step, *start.pins]):
        require_step(planned, name)


def require_step(planned: PlannedFlow, name: str) -> None:
    """Raise `InputInvalid` when the flow has no such step."""
    if name not in planned.steps:
        raise InputInvalid(
            f"The flow has no step '{name}'{did_you_mean(name, planned.steps) or '.'}",
            remedy="Give the id of a node that is a step of the flow.",
        )


def _outputs(step: PlannedStep, pin: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the pinned outputs of a step that the run needs, in their stored form."""
    outputs = {name: _encoded(step, name, pin[name], type_) for name, type_ in step.outputs if name in pin}
    if not outputs and step.outputs:
        names = ", ".join(name for name, _ in step.outputs)
        raise InputInvalid(f"The value pinned to '{step.id}' has none of its outputs.", remedy=f"It gives: {names}.")
    return outputs


def _encoded(step: PlannedStep, name: str, value: JsonValue, type_: PortType) -> JsonValue:
    try:
        return encode(decode(value, type_), type_)
    except ValueMismatch as error:
        raise InputInvalid(
            f"The value pinned to '{step.id}.{name}' is not valid: {error.detail}",
            remedy="Pin an output of a run again.",
        ) from error


def _targets(planned: PlannedFlow, start: RunStart) -> set[str]:
    if start.only_step:
        return {start.only_step}
    if start.from_step:
        return {start.from_step, *planned.plan.descendants(start.from_step)}
    return {step.id for step in planned.plan.leaves}


def _needed(planned: PlannedFlow, targets: set[str], pins: Mapping[str, Any]) -> set[str]:
    """Return the requested steps and their inputs, without steps that only pinned steps would read."""
    needed: set[str] = set()
    waiting = [*targets]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in pins:
            continue
        step = planned.steps[name]
        reads_by_name = step.refers or step.attached or not step.plain
        waiting.extend(planned.plan.ancestors(name) if reads_by_name else step.step.parents)
    return needed


def _files(pins: Mapping[str, Mapping[str, JsonValue]]) -> Iterator[str]:
    """Return the ids of files in pinned values: of a File, or of a Message's attachments."""
    for value in (value for pin in pins.values() for value in pin.values()):
        if not isinstance(value, dict):
            continue
        if "media_type" in value and isinstance(value.get("id"), str):
            yield str(value["id"])
        files = value.get("files")
        for file in files if isinstance(files, list) else ():
            if isinstance(file, dict) and isinstance(file.get("id"), str):
                yield str(file["id"])


async def _classes(services: Services, key: RunKey, planned: PlannedFlow) -> dict[str, int]:
    """Return the classification of each step's output: a pinned output is treated like the step's own."""
    if services.classes is None:
        return {}
    classified = await services.classes.classify(key.tenant_id, planned.flow)
    return {name: step.output for name, step in classified.steps.items()}
