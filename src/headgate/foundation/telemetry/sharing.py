"""Counting over several processes: a worker's children write what its parent shows."""

import os
from pathlib import Path

from headgate.foundation.private_files import private_folder

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus-client reads when it is imported."""


def share_between_processes(folder: Path) -> None:
    """Count in files of `folder`, which is emptied, so that a parent shows what its children count.

    To be called in the parent before its telemetry is opened, and before it forks.
    """
    private_folder(folder)
    for left in folder.glob("*.db"):
        left.unlink(missing_ok=True)
    os.environ[SHARED_FOLDER] = str(folder)
