"""Filters of lists of flows: folder, tag, favourites, trash."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, or_

from headgate.features.flows.organization.tables import FlowFavouriteRow, FlowTagRow
from headgate.features.flows.tables import FlowRow


@dataclass(frozen=True, slots=True)
class FlowFilter:
    """Which flows a list has.

    Args:
        folder: Flows in this folder and in those below it; empty: of all folders.
        tag: Flows with this tag; empty: any.
        favourite_of: The favourites of this user; None: any.
        trashed: The flows in the trash instead of the others.
    """

    folder: str = ""
    tag: str = ""
    favourite_of: str | None = None
    trashed: bool = False

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions of a query on `FlowRow`."""
        deleted = FlowRow.deleted_at.is_not(None) if self.trashed else FlowRow.deleted_at.is_(None)
        conditions: list[ColumnElement[bool]] = [deleted, FlowRow.purged_at.is_(None)]
        if self.folder:
            below = FlowRow.folder.startswith(f"{self.folder}/", autoescape=True)
            conditions.append(or_(FlowRow.folder == self.folder, below))
        if self.tag:
            conditions.append(exists().where(*_of_flow(FlowTagRow), FlowTagRow.tag == self.tag))
        if self.favourite_of is not None:
            favourite = exists().where(*_of_flow(FlowFavouriteRow), FlowFavouriteRow.user_id == self.favourite_of)
            conditions.append(favourite)
        return conditions


def _of_flow(row: type[FlowTagRow | FlowFavouriteRow]) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return row.flow_id == FlowRow.id, row.tenant_id == FlowRow.tenant_id


EVERY_FLOW = FlowFilter()
"""All flows that are not in the trash."""
