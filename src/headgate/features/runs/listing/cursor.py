"""Cursor of a page in the list of flows: the id, and before it the value of the sort key."""

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Any

from headgate.features.runs.listing.repository import Place
from headgate.features.runs.listing.schemas import SortKey
from headgate.foundation.database import microseconds
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def cursor_of(sort: SortKey, row: Any) -> str:  # noqa: ANN401 - a row
    """Return the cursor after a flow."""
    if sort == "name":
        return f"{base64.urlsafe_b64encode(row.lowered.encode()).decode()}.{row.id}"
    if sort == "updated":
        return f"{microseconds(row.updated_at)}.{row.id}"
    return str(row.id)


def place_of(sort: SortKey, cursor: str | None) -> Place | None:
    """Return the position of a cursor. Raises `Invalid`."""
    if cursor is None:
        return None
    value, _, flow_id = cursor.rpartition(".")
    if not is_id(flow_id) or bool(value) != (sort != "created"):
        raise _unknown()
    try:
        return _value(sort, value), flow_id
    except (ValueError, OverflowError, binascii.Error) as error:
        raise _unknown() from error


def _value(sort: SortKey, value: str) -> datetime | str | None:
    if sort == "updated":
        return _BEGIN + timedelta(microseconds=int(value[:18]))
    if sort == "name":
        decoded = base64.urlsafe_b64decode(value.encode()).decode()
        if "\0" in decoded:
            raise ValueError(value)
        return decoded
    return None


def _unknown() -> Invalid:
    return Invalid("Invalid cursor.", remedy="Omit it to start at the first page.")
