"""Runs a command that ends when the tests end: `python -m tests.flowise.server.tied COMMAND ...`."""

import subprocess
import sys

from tests.support.lifeline import tie

if __name__ == "__main__":
    tie()
    sys.exit(subprocess.call(sys.argv[1:]))
