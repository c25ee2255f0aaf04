"""The command line."""

import atexit
import gc
import json
import os
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
    form = _VERSION.get(tuple(arguments))
    if form is not None:
        print(json.dumps({"version": __version__}) if form == "json" else f"headgate {__version__}")  # noqa: T201
        return
    # No plugins of Pydantic: to find them it reads the metadata of every installed package, at each start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    codes: list[int] = []
    atexit.register(_leave, codes)  # the first to register is the last to be called
    os.umask(0o077)  # what Headgate writes is its user's alone, see `foundation/private_files.py`
    gc.disable()  # until the command is imported, see `app`: a quarter of the time of these imports
    codes.append(import_module("headgate.entrypoints.cli.app").run(arguments))
    sys.exit(codes[0])


def _leave(codes: list[int]) -> None:
    """End the process once everything registered with `atexit` has been called and all threads have ended.

    Python would release each object first, which takes a tenth of a second and has no effect. A command that failed
    with a bug has no code, and output that cannot be written is reported by Python itself.
    """
    if not codes:
        return
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        return
    os._exit(codes[0])
