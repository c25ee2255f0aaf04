"""Response bodies of patterns."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from headgate.agents.codev.patterns.describing import described
from headgate.agents.codev.patterns.recipes import components_of
from headgate.agents.codev.tables import PatternRow


class PatternOut(BaseModel):
    """A flow that a session brought to its end, in short."""

    id: str
    space_id: str
    domain: str
    name: str
    requirement: str
    components: list[str]
    success_count: int
    """Sessions that ended well with it: the one that made it, and those that used it."""
    session_id: str | None
    """The session that made it."""
    created_at: datetime
    updated_at: datetime


class PatternDetail(PatternOut):
    """A pattern with its recipe."""

    description: str
    """Its description for a model."""
    definition: dict[str, Any]
    """Without secrets and places on a canvas."""


def pattern_out(row: PatternRow) -> PatternOut:
    """A row in short."""
    return PatternOut(**_members(row))


def pattern_detail(row: PatternRow) -> PatternDetail:
    """A row with all of it."""
    return PatternDetail(**_members(row), description=described(row.definition), definition=row.definition)


def _members(row: PatternRow) -> dict[str, Any]:
    names = PatternOut.model_fields.keys() - {"components"}
    return {name: getattr(row, name) for name in names} | {"components": components_of(row.definition)}
