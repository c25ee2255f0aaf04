"""Draws `demo.svg` from a real run of the demonstration's sentence: `uv run python docs/images/make.py`."""

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from demo import HEADGATE, REQUEST  # noqa: E402 - found through the path above

WIDTH = 104
SPINNER = re.compile("[\u2800-\u28ff]")


def main() -> None:
    """Ask, and keep what the terminal showed."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"HEADGATE_DATA_DIR": folder, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}
        command = [HEADGATE, "ask", REQUEST, "--run", "--model", "offline"]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    console = Console(record=True, width=WIDTH, file=StringIO())
    console.print(Text.assemble(("$ ", "dim"), ("headgate ask ", "bold"), f'"{REQUEST}" --run'))
    lines = [line for line in done.stdout.splitlines() if not SPINNER.search(line)]
    console.print(Text.from_ansi("\n".join(lines).rstrip()))
    target = ROOT / "docs" / "images" / "demo.svg"
    target.write_text(console.export_svg(title="headgate"), encoding="utf-8")
    print(f"Wrote {target}")


if __name__ == "__main__":
    main()
