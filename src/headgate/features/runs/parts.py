"""Running a part of a flow: one step with what stands before it, or a step and what follows, with pinned outputs."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from headgate.features.access.principal import Principal
from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.ports import Origin, Services
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.steps.payloads import Packer
from headgate.features.runs.steps.planned import PlannedFlow, PlannedStep
from headgate.features.runs.transitions import Part, Pinned, RunKey
from headgate.graph.names import did_you_mean
from headgate.graph.ports import PortType
from headgate.sdk.coerce import ValueMismatch, decode, encode
from headgate.sdk.outside import mark


def asks_for_part(wanted: RunStart) -> bool:
    """Whether a run is to carry out anything but its whole flow."""
    return bool(wanted.pins or wanted.only_step or wanted.from_step)


async def part_of(
    services: Services, principal: Principal, key: RunKey, planned: PlannedFlow, wanted: RunStart
) -> Part:
    """What of its flow a run is to carry out. Raises `InputInvalid`, or `NotFound` for a file not to be seen."""
    _check(planned, wanted)
    pins = {name: _outputs(planned.steps[name], pin) for name, pin in wanted.pins.items()}
    needed = _needed(planned, _targets(planned, wanted), pins)
    if not needed - pins.keys():
        raise InputInvalid(
            "Every step that would run is pinned: there is nothing to do.", remedy="Unpin the step that is to run."
        )
    used = [name for name in planned.steps if name in pins and name in needed]
    await services.files.given(principal, list(_files({name: pins[name] for name in used})))
    classes = await _classes(services, key, planned)
    packer = Packer(services.limits, services.files)
    pinned = []
    for name in used:
        # nobody knows where a pinned output comes from: it may be an answer of the web
        marks = (mark("pinned", name),)
        packed = await packer.pack(Origin(key, name), planned.steps[name], pins[name], [], outside=marks)
        pinned.append(Pinned(name, packed.payload, classes.get(name)))
    left_out = tuple(name for name in planned.steps if name not in needed)
    return Part(wanted.only_step, wanted.from_step, tuple(pinned), left_out)


def pinned_files(planned: PlannedFlow, wanted: RunStart) -> list[str]:
    """Ids of files that pinned outputs name: the run takes them as it takes what it is given."""
    known = {name: pin for name, pin in wanted.pins.items() if name in planned.steps}
    return list(dict.fromkeys(_files(known)))


def _check(planned: PlannedFlow, wanted: RunStart) -> None:
    if wanted.version != "draft":
        raise InputInvalid(
            "Only a run of the draft may carry out a part of the flow.", remedy="Leave out `pins` and the steps."
        )
    if wanted.only_step and wanted.from_step:
        raise InputInvalid("A run stops at a step or begins at one, not both.", remedy="Give one of the two.")
    for name in filter(None, [wanted.only_step, wanted.from_step, *wanted.pins]):
        if name not in planned.steps:
            raise InputInvalid(
                f"The flow has no step '{name}'{did_you_mean(name, planned.steps) or '.'}",
                remedy="Name a node that is a step of the flow.",
            )


def _outputs(step: PlannedStep, pin: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The pinned outputs that the run needs of a step, in their stored form."""
    given = {name: _encoded(step, name, pin[name], type_) for name, type_ in step.outputs if name in pin}
    if not given and step.outputs:
        names = ", ".join(name for name, _ in step.outputs)
        raise InputInvalid(f"What is pinned to '{step.id}' has none of its outputs.", remedy=f"It gives: {names}.")
    return given


def _encoded(step: PlannedStep, name: str, value: JsonValue, type_: PortType) -> JsonValue:
    try:
        return encode(decode(value, type_), type_)
    except ValueMismatch as error:
        raise InputInvalid(
            f"What is pinned to '{step.id}.{name}' does not fit: {error.detail}", remedy="Pin an output of a run again."
        ) from error


def _targets(planned: PlannedFlow, wanted: RunStart) -> set[str]:
    if wanted.only_step:
        return {wanted.only_step}
    if wanted.from_step:
        return {wanted.from_step, *planned.plan.descendants(wanted.from_step)}
    return {step.id for step in planned.plan.leaves}


def _needed(planned: PlannedFlow, targets: set[str], pins: Mapping[str, Any]) -> set[str]:
    """The steps wanted, with all that they may read; what only pinned steps would read is not needed."""
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
    """Ids of the files in pinned values: a File's own, a Message's attachments."""
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
    """The class of what each step gives: a pinned output is treated as what the step would have given."""
    if services.classes is None:
        return {}
    found = await services.classes.classify(key.tenant_id, planned.flow)
    return {name: one.output for name, one in found.steps.items()}
