"""Readiness check before a start: a version's own problems are cached, those of its environment are not."""

from typing import TYPE_CHECKING

from headgate.features.runs.errors import ClassRefused, InputInvalid
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.transitions import Part, RunKey
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.lazy import lazy_module
from headgate.graph.issues import FlowInvalid

if TYPE_CHECKING:
    from headgate.features.flows.readiness import check
    from headgate.features.flows.readiness.answer import Need
    from headgate.features.runs.step_services import Services
    from headgate.sdk import RunInput
else:
    check = lazy_module("headgate.features.flows.readiness.check")

_OF_THE_RUN = frozenset({"file"})
"""Requirements that the run's own input meets."""


async def require_ready(services: "Services", key: RunKey, planned: PlannedFlow, part: Part | None) -> None:
    """Raise `FlowInvalid` when the check finds an error in what the run would execute.

    Reads nothing for a flow without external requirements.
    """
    rules = services.rules
    if rules is None:
        return
    readiness = planned.readiness
    if services.classes is not None or any(need.kind not in _OF_THE_RUN for need in readiness.needs):
        space_id = await services.spaces.of(key.tenant_id, key.flow_id)
        environment = await rules.environment(key.tenant_id, space_id)
        readiness = await run_in_flow_thread(check.check, planned.flow, planned.components, environment, frozen=True)
    settled = part.settled if part is not None else frozenset[str]()
    errors = [issue for issue in readiness.errors if issue.node not in settled]
    if errors:
        raise FlowInvalid(errors)


def require_files(planned: PlannedFlow, run_input: "RunInput", part: Part | None) -> None:
    """Raise `InputInvalid` when an entry step reads a file and the run's input has none."""
    settled = part.settled if part is not None else frozenset[str]()
    first = [step.id for step in planned.plan.roots if step.policy.disabled == "no"]
    for need in planned.readiness.needs:
        steps = [node for node in need.nodes if node in first and node not in settled]
        if need.kind == "file" and steps and not _has_file(need, run_input):
            location = f" in the form field '{need.name}'" if need.name else ""
            raise InputInvalid(
                f"Step '{planned.steps[steps[0]].label}' reads a file{location}, but the run has no file.",
                remedy="Start the run with a file.",
            )


def require_class(services: "Services", planned: PlannedFlow, level: int | None) -> None:
    """Raise `ClassRefused` when the input of a flow is classified lower than what it would be started with."""
    classes = services.classes
    if classes is None or level is None:
        return
    scheme, flow = classes.scheme, planned.flow
    takes = scheme.of_input(flow.settings.input_classification)
    if takes < level:
        raise ClassRefused(
            f"'{flow.name}', whose input is classified {scheme.name(takes)}, would be started with input classified "
            f"{scheme.name(level)}.",
            remedy=f"Set the classification of that flow's input to {scheme.name(level)} or higher.",
        )


def _has_file(need: "Need", run_input: "RunInput") -> bool:
    return bool(run_input.form_data.get(need.name)) if need.name else bool(run_input.files)
