"""How a function that runs in a separate process returns its result, or an error."""

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, cast

from pydantic import JsonValue

from headgate.components.readers.document import Unreadable
from headgate.foundation.errors import HeadgateError
from headgate.sdk import Table

Arguments = Mapping[str, Any]


def isolated(work: Callable[[Arguments], JsonValue]) -> Callable[[ModuleType, Arguments], dict[str, JsonValue]]:
    """Make a host function of the sandbox: returns `{"value": ...}`, or `{"refused": {...}}` for an error."""

    @functools.wraps(work)
    def answer(_module: ModuleType, arguments: Arguments) -> dict[str, JsonValue]:
        try:
            return {"value": work(arguments)}
        except HeadgateError as error:
            refused = {"detail": error.detail, "remedy": error.remedy, "extra": error.extra}
            return {"refused": cast("JsonValue", refused | {"unreadable": isinstance(error, Unreadable)})}

    return answer


def packed(table: Table) -> JsonValue:
    """Return a table as JSON."""
    return {"columns": list(table.columns), "rows": cast("JsonValue", table.rows)}
