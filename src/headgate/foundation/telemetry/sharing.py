"""Metrics across processes: a worker's children write what its parent serves."""

import os
from pathlib import Path

from headgate.foundation.private_files import private_folder

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus-client reads when it is imported."""


def share_between_processes(folder: Path) -> None:
    """Store metrics in files of `folder`, which is emptied, so that a parent can serve the metrics of its children.

    Call it in the parent before its telemetry is opened, and before it forks.
    """
    private_folder(folder)
    for path in folder.glob("*.db"):
        path.unlink(missing_ok=True)
    os.environ[SHARED_FOLDER] = str(folder)
