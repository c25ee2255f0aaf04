"""Filter of runs in lists and exports."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import ColumnElement, column, exists, select, table

from headgate.features.flows.organization.tables import FlowTagRow
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.deliveries.schemas import DeliveryState
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.schemas import RunState
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import microseconds, now
from headgate.foundation.errors import Invalid

_OCCURRENCES = table("trigger_occurrences", column("trigger_id"), column("flow_run_id"))
"""Of triggers, a feature above this one: which run each started."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filter of visible runs."""

    flow_id: str | None = None
    status: str | None = None
    session_id: str | None = None
    since: int | None = None
    """Creation time in microseconds: `since` inclusive, `until` exclusive."""
    until: int | None = None
    deliveries: str | None = None
    """With a delivery in this status."""
    parent_run_id: str | None = None
    """Started by a step of this run."""
    parent_step_id: str | None = None
    """Only together with the run of the step."""
    version: int | None = None
    user_id: str | None = None
    """The user who started it."""
    owner_id: str | None = None
    """The owner of the flow."""
    tag: str | None = None
    """A tag of the flow."""
    trigger_id: str | None = None
    """The trigger that started it: of occurrences, which are kept for 90 days."""

    @property
    def of_one(self) -> bool:
        """Return whether a condition has an index that is better than that of the tenant."""
        return any(value is not None for value in (self.flow_id, self.parent_run_id, self.trigger_id))

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        """Return the SQL conditions."""
        run = flow_runs.c
        columns = (run.flow_id, run.status, run.session_id, run.parent_run_id, run.parent_step_id, run.version)
        for own in (*columns, run.user_id):
            if (value := getattr(self, own.name)) is not None:
                yield own == value
        if self.deliveries is not None:
            delivery = webhook_deliveries.c
            yield exists().where(delivery.flow_run_id == run.id, delivery.status == self.deliveries)
        if self.owner_id is not None:
            yield run.flow_id.in_(select(FlowRow.id).where(FlowRow.owner_user_id == self.owner_id))
        if self.tag is not None:
            yield run.flow_id.in_(select(FlowTagRow.flow_id).where(FlowTagRow.tag == self.tag))
        if self.trigger_id is not None:
            started = select(_OCCURRENCES.c.flow_run_id).where(_OCCURRENCES.c.trigger_id == self.trigger_id)
            yield run.id.in_(started.where(_OCCURRENCES.c.flow_run_id.is_not(None)))
        if self.since is not None:
            yield run.created_at >= self.since
        if self.until is not None:
            yield run.created_at < self.until


EVERY_RUN = RunFilter()


def stored_time(moment: datetime | None) -> int | None:
    """Return a time as `RunFilter` has it."""
    return None if moment is None else microseconds(moment)


class _Parameters(BaseModel):
    """The query parameters of a list of runs."""

    model_config = ConfigDict(extra="forbid")

    flow_id: str | None = None
    status: RunState | None = None
    session_id: str | None = None
    deliveries: DeliveryState | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    within_hours: float | None = Field(default=None, gt=0, le=100_000)
    parent_run_id: str | None = None
    parent_step_id: str | None = None
    version: int | None = Field(default=None, ge=1, le=2**31 - 1)
    user_id: str | None = None
    owner_id: str | None = None
    tag: str | None = None
    trigger_id: str | None = None


def run_filter_of(parameters: Mapping[str, Any]) -> RunFilter:
    """Return the filter of query parameters, such as those of a saved view. Raises `Invalid` for an unknown one.

    `within_hours`: created in these hours; only in saved views.
    """
    try:
        given = _Parameters.model_validate(parameters)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise Invalid(f"The filter is invalid. {faults}", remedy="Use the query parameters of the list.") from error
    since = given.since if given.within_hours is None else now() - timedelta(hours=given.within_hours)
    members = given.model_dump(exclude={"since", "until", "within_hours"})
    return RunFilter(**members, since=stored_time(since), until=stored_time(given.until))
