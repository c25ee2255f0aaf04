"""The command line."""

import gc
import json
import sys
from importlib import import_module

from headgate import __version__

_COLLECT_AFTER = 5_000
"""New objects until the youngest are looked through. Python's own 700 costs a sixth of an import that makes thousands
of classes, all of which stay."""
_VERSION = {("version",): "text", ("--version",): "text", ("version", "--json"): "json"}


def main() -> None:
    """Run the command line and leave with its exit code.

    The version is answered before anything is loaded: scripts ask for it often, and Typer with pydantic takes a tenth
    of a second to import.
    """
    arguments = sys.argv[1:]
    wanted = _VERSION.get(tuple(arguments))
    if wanted is not None:
        print(json.dumps({"version": __version__}) if wanted == "json" else f"headgate {__version__}")  # noqa: T201
        return
    gc.set_threshold(_COLLECT_AFTER)
    sys.exit(import_module("headgate.entrypoints.cli.app").run(arguments))
