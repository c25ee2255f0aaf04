"""Stands in for the local model's process: announces an address, then lives until standard input ends.

Started as `python fake_model_process.py ADDRESS [LOG]`. The name of the model file decides what it does: `refuses` says
why it does not load, `dies` ends without a word, `hangs` never answers, anything else is announced.
"""

import json
import os
import sys
import time
from pathlib import Path


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    name = Path(settings["path"]).stem
    if len(sys.argv) > 2:
        with Path(sys.argv[2]).open("a") as log:
            log.write(
                json.dumps({"pid": os.getpid(), "name": name, "environment": sorted(os.environ), **settings}) + "\n"
            )
    if name == "dies":
        sys.exit(3)
    if name == "hangs":
        time.sleep(600)
    if name == "refuses":
        sys.stderr.write("0.00.007.017 E gguf_init: this file is version 99\n")
        sys.stdout.write(json.dumps({"error": "RuntimeError: Failed to init server"}) + "\n")
        sys.stdout.flush()
        return
    sys.stdout.write(json.dumps({"url": sys.argv[1]}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
