"""The main job with a local language model: `make demo-model`.

The same data and the same kind of sentence as `demo.py`, and one more wish: a summary, which needs a model. A 1.5B
model runs in a process of this machine; its weights (1.1 GB) are fetched once and verified by SHA-256.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REQUEST = (
    "List the python packages that are installed here with their licences, count them per licence, then summarise the"
    " counts in four sentences for a manager who has to approve the licences, and save the summary as summary.md"
)
MODEL = "qwen2.5-coder-1.5b"
HEADGATE = str(Path(sys.executable).with_name("headgate"))
FOLDER = Path(os.environ.get("HEADGATE_DATA_DIR") or tempfile.mkdtemp(prefix="headgate-demo-"))
ENVIRONMENT = os.environ | {
    "HEADGATE_DATA_DIR": str(FOLDER),
    "HEADGATE_LOG__LEVEL": "error",
    "HEADGATE_MODELS__DEFAULT": f"local/{MODEL}",
}


def main() -> None:
    """Fetch the model, ask, run, show the summary and the evidence."""
    print(f"1. The model: headgate models pull {MODEL}\n", flush=True)
    _headgate("models", "pull", MODEL)
    began = time.perf_counter()
    print(
        f'\n2. One sentence becomes a flow with a summarising step, and runs:\n   headgate ask "{REQUEST}" --run\n',
        flush=True,
    )
    _headgate("ask", REQUEST, "--run", "--model", "offline")
    run = _json("runs", "list")[0]["id"]
    summary = next(one for one in _json("runs", "files", run) if one["name"].endswith(".md"))
    target = FOLDER / summary["name"]
    _headgate("runs", "download", summary["id"], "--output", str(target))
    print("\n".join(f"   | {line}" for line in target.read_text(encoding="utf-8").splitlines()))
    print(f"\nAsked, built and run in {time.perf_counter() - began:.1f} s. Data folder: {FOLDER}")


def _headgate(*arguments: str) -> None:
    done = subprocess.run([HEADGATE, *arguments], env=ENVIRONMENT, check=False)
    if done.returncode:
        raise SystemExit(f"FAILED: headgate {arguments[0]} ended with {done.returncode}")


def _json(*arguments: str) -> Any:
    done = subprocess.run([HEADGATE, *arguments, "--json"], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
