"""Paths of files in a storage. Pure."""

from headgate.graph.names import clipped
from headgate.sdk import ComponentError

LONGEST = 1_024
MOST_PARTS = 64


def clean_path(path: str, *, subject: str, field: str) -> str:
    """Return a relative path without empty parts; empty is the root. Raises `ComponentError` for others."""
    parts = [part for part in path.strip().strip("/").split("/") if part not in {"", "."}]
    if len(path) > LONGEST or len(parts) > MOST_PARTS or not all(is_name(part) for part in parts):
        raise ComponentError(
            f"{subject}: '{clipped(path, 80)}' is not a path in the storage.",
            remedy="Write a relative path such as reports/2027/june.csv, without '..'.",
            field=field,
        )
    return "/".join(parts)


def is_name(part: str) -> bool:
    """Return whether a part of a path names a file or folder, and cannot lead elsewhere."""
    return part not in {"", ".", ".."} and not any(ord(mark) < 32 or mark in "/\\\x7f" for mark in part)
