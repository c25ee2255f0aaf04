"""The command line."""

import gc
import json
import sys
from importlib import import_module

from headgate import __version__

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
    gc.disable()  # until the command is imported, see `app`: a quarter of the time of these imports
    sys.exit(import_module("headgate.entrypoints.cli.app").run(arguments))
