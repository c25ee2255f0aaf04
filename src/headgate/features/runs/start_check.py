"""The readiness check of a start: a version never changes, so its own faults are found once; its environment does."""

from typing import TYPE_CHECKING

from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.transitions import Part, RunKey
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.lazy import lazy_module
from headgate.graph.issues import FlowInvalid

if TYPE_CHECKING:
    from headgate.features.flows.readiness import check
    from headgate.features.flows.readiness.answer import Need
    from headgate.features.runs.ports import Services
    from headgate.sdk import RunInput
else:
    check = lazy_module("headgate.features.flows.readiness.check")

_OF_THE_RUN = frozenset({"file"})
"""Needs that the run's own input meets."""


async def require_ready(services: "Services", key: RunKey, planned: PlannedFlow, part: Part | None) -> None:
    """Raise `FlowInvalid` where the check finds an error in what the run would execute.

    Reads nothing for a flow that needs nothing from outside.
    """
    rules = services.rules
    if rules is None:
        return
    found = planned.readiness
    if services.classes is not None or any(need.kind not in _OF_THE_RUN for need in found.needs):
        space_id = await services.spaces.of(key.tenant_id, key.flow_id)
        environment = await rules.environment(key.tenant_id, space_id)
        found = await run_in_flow_thread(check.check, planned.flow, planned.components, environment, frozen=True)
    settled = part.settled if part is not None else frozenset[str]()
    errors = [issue for issue in found.errors if issue.node not in settled]
    if errors:
        raise FlowInvalid(errors)


def require_files(planned: PlannedFlow, given: "RunInput", part: Part | None) -> None:
    """Raise `InputInvalid` where a step that begins the run reads a file that the run is not started with."""
    settled = part.settled if part is not None else frozenset[str]()
    for need in planned.readiness.needs:
        steps = [node for node in need.nodes if node in planned.roots and node not in settled]
        if need.kind == "file" and steps and not _has_file(need, given):
            where = f" in the form field '{need.name}'" if need.name else ""
            raise InputInvalid(
                f"Step '{steps[0]}' reads a file{where}, and the run is started without one.",
                remedy="Start the run with a file.",
            )


def _has_file(need: "Need", given: "RunInput") -> bool:
    return bool(given.form_data.get(need.name)) if need.name else bool(given.files)
