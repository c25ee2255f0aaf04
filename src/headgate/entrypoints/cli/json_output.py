"""JSON output of a command, for programs."""

import sys
from typing import Annotated, Any

import orjson
import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """One JSON value on standard output."""
    sys.stdout.write(orjson.dumps(value, default=_plain).decode() + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:  # noqa: ANN401
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return str(value)
