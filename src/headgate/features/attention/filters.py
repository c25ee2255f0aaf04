"""Filters of the attention list."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from headgate.features.attention.schemas import NOBODY, AttentionItem, Kind
from headgate.foundation.errors import Invalid

Hours = Annotated[float, Field(ge=0, le=10_000)]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class AttentionFilter:
    """Which items are listed, with the names of the query parameters.

    Queries apply space, flow and owner; the rest is applied to their items.
    """

    kind: tuple[Kind, ...] = ()
    """Empty: all."""
    space_id: str | None = None
    flow_id: str | None = None
    owner_id: str | None = None
    """Owner of the flow."""
    assigned_to: str | None = None
    """A user, or `nobody`."""
    within_hours: Hours | None = None
    """Last seen in these hours."""
    older_hours: Hours | None = None
    """First seen before these hours."""

    def wants(self, *kinds: Kind) -> bool:
        """Return whether items of one of these kinds are listed."""
        return not self.kind or any(kind in self.kind for kind in kinds)

    @property
    def of_flows(self) -> bool:
        """Return whether only items of certain flows are listed."""
        return self.flow_id is not None or self.owner_id is not None

    def matches(self, item: AttentionItem, at: datetime) -> bool:
        """Return whether an item is listed at a time."""
        if not self.wants(item.kind) or self.flow_id not in {None, item.flow_id}:
            return False
        if self.space_id not in {None, item.space_id}:
            return False
        if self.assigned_to is not None and self.assigned_to != (item.assignee_id or NOBODY):
            return False
        if self.within_hours is not None and (item.last_at is None or item.last_at < at - _hours(self.within_hours)):
            return False
        first = item.first_at or item.last_at
        return self.older_hours is None or (first is not None and first < at - _hours(self.older_hours))


def _hours(hours: float) -> timedelta:
    return timedelta(hours=hours)


EVERYTHING = AttentionFilter()
_FILTER = TypeAdapter(AttentionFilter)


def filter_of(parameters: Mapping[str, Any]) -> AttentionFilter:
    """Return the filter of query parameters, such as those of a saved view. Raises `Invalid` for an unknown one."""
    kinds = parameters.get("kind")
    values = {**parameters, "kind": [kinds]} if isinstance(kinds, str) else parameters
    try:
        return _FILTER.validate_python(values)
    except ValidationError as error:
        faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
        raise Invalid(f"The filter is invalid. {faults}", remedy="Use the query parameters of the list.") from error
