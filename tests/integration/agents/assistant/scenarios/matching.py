"""Whether something found holds what was expected: objects in part, lists in order, `~text` as a part of a text."""

from collections.abc import Sequence
from typing import Any


def holds(found: Any, expected: Any) -> bool:
    """Whether `found` has what is expected of it.

    An object needs the expected members and may have more; a list the expected items in their order, others between
    them; `~text` is found in a text or in what it looks like as text; `*` is anything but nothing; else they are equal.
    """
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and holds(found[name], value) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(found, list) and (
            found == expected == [] or (expected != [] and first_missing(found, expected) is None)
        )
    if isinstance(expected, str) and expected.startswith("~"):
        return expected[1:].lower() in str(found).lower()
    if expected == "*":
        return found not in (None, "", [], {})
    return bool(found == expected)


def first_missing(found: Sequence[Any], expected: Sequence[Any]) -> Any:
    """The first expected item that does not come after the ones before it; None when all come."""
    rest = iter(found)
    return next((one for one in expected if not any(holds(item, one) for item in rest)), None)


def as_event(written: Any) -> dict[str, Any]:
    """An event as scenarios write it: `complete`, `progress:validating`, `flow_update:connect`, or an object."""
    if isinstance(written, dict):
        return written
    kind, _, detail = str(written).partition(":")
    member = {"progress": "step", "flow_update": "action", "file_written": "action", "run_update": "kind"}
    return {"event": kind} | ({member[kind]: detail} if detail else {})
