"""The figures of a worker: its children count in files that they share with it, and it serves them on a port."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import rmtree

from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry.opening import serve_metrics
from headgate.foundation.telemetry.sharing import share_between_processes

log = get_logger(__name__)


@contextmanager
def shared_figures(settings: Settings) -> Iterator[None]:
    """Let this process and its children count together while the worker lives; before anything is forked."""
    if not settings.telemetry.worker_metrics_port:
        yield
        return
    folder = settings.data_dir / "metrics" / str(os.getpid())
    share_between_processes(folder)
    try:
        yield
    finally:
        rmtree(folder, ignore_errors=True)


def serve_figures(settings: Settings) -> None:
    """Serve them, from a thread. A port that is taken costs the figures and not the worker."""
    port = settings.telemetry.worker_metrics_port
    if not port:
        return
    try:
        serve_metrics(settings.server.host, port)
    except Unavailable as error:
        log.warning("worker does not serve metrics", problem=str(error))
