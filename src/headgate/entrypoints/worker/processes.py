"""Celery's worker and beat, as processes of this installation."""

import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import FrameType
from typing import Any

from celery import Celery
from celery.apps.beat import Beat
from celery.exceptions import CPendingDeprecationWarning
from celery.platforms import EX_FAILURE, SecurityWarning
from celery.signals import setup_logging, worker_ready

from headgate.entrypoints.handed_over import report_ready
from headgate.entrypoints.worker.child import WORKER_ID, open_child
from headgate.entrypoints.worker.figures import serve_figures, shared_figures
from headgate.entrypoints.worker.heartbeat import WorkerHeartbeat
from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.distributed.celery_app import make_app
from headgate.features.runs.engine.distributed.child import Child
from headgate.features.runs.engine.distributed.orders import RECOVER, Queues
from headgate.features.runs.engine.distributed.tasks import WorkerParts, register
from headgate.foundation.ids import new_id
from headgate.foundation.log import configure, get_logger
from headgate.foundation.settings import Settings

log = get_logger(__name__)

LONG_LIFE_SECONDS = 60.0
"""A worker that lived as long did not fail for a reason that stays."""
MOST_TRIES = 5
TRIES = "_WORKER_FRESH_STARTS"
"""Counts the fresh starts, from one process to the next."""
OpenChild = Callable[[Settings, Celery], AbstractAsyncContextManager[WorkerParts]]


def make_worker_app(settings: Settings, open_parts: OpenChild = open_child) -> Celery:
    """Make the application with its tasks, for worker processes."""
    app = make_app(settings)
    app.set_default()
    child: Child[WorkerParts] = Child(lambda: open_parts(settings, app))
    register(app, child, settings.celery.queue, settings.engine.lease_seconds)
    return app


def run_worker(settings: Settings, open_parts: OpenChild = open_child) -> int:
    """Execute tasks until stopped; running tasks get a moment to finish. Returns the exit code.

    A child that dies at start-up makes Celery end the whole worker; then this process restarts it.
    """
    began = time.monotonic()
    with shared_figures(settings):
        code = _work(settings, open_parts)
    if code == EX_FAILURE:
        _start_anew(time.monotonic() - began)
    return code


def _start_anew(lived_seconds: float) -> None:
    """Replace this process by a fresh one, unless it fails again and again at once."""
    tries = 0 if lived_seconds > LONG_LIFE_SECONDS else int(os.environ.get(TRIES, "0"))
    if tries < MOST_TRIES:
        os.environ[TRIES] = str(tries + 1)
        log.error("worker failed, restarting", tries=tries + 1, lived_seconds=round(lived_seconds, 1))
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - the very command that started this process


def _work(settings: Settings, open_parts: OpenChild) -> int:
    # Celery warns root because of pickled messages; ours are JSON, and other content is refused.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # It announces, at each lost connection, what is set here already.
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
    app = make_worker_app(settings, open_parts)
    queues = Queues(settings.celery.queue).names
    worker_id = app.conf[WORKER_ID] = Worker(settings.data_dir / "workers").id
    heartbeat = WorkerHeartbeat(settings, worker_id, queues)
    setup_logging.connect(lambda **_: configure(settings.log), weak=False)
    worker_ready.connect(lambda **_: _stop_in_time(settings, heartbeat.stop), weak=False)
    worker_ready.connect(lambda sender, **_: heartbeat.start(sender), weak=False)
    worker_ready.connect(lambda **_: serve_figures(settings), weak=False)
    worker_ready.connect(lambda **_: report_ready(), weak=False)
    worker = app.Worker(
        hostname=f"headgate-{new_id()[-12:]}@{socket.gethostname()}",
        queues=queues,
        concurrency=settings.celery.concurrency,
        loglevel=settings.log.level.upper(),
        optimization="fair",
        quiet=True,
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )
    worker.start()
    heartbeat.stop()
    return int(worker.exitcode or 0)


def run_beat(settings: Settings) -> None:
    """Send scheduled tasks until stopped. Two instances at once are harmless."""
    app = make_app(settings)
    app.conf.beat_schedule = schedule(settings)
    setup_logging.connect(lambda **_: configure(settings.log), weak=False)
    beat = Beat(app=app, scheduler="celery.beat:Scheduler", loglevel=settings.log.level.upper(), quiet=True)
    beat.run()


def schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """What beat sends: messages that expire, so that none pile up while no worker is there."""
    seconds = settings.celery.sweep_seconds
    upkeep = {"queue": Queues(settings.celery.queue).upkeep}
    return {
        "recover": {"task": RECOVER, "schedule": seconds, "options": {**upkeep, "expires": 2 * seconds}},
    }


def _stop_in_time(settings: Settings, before_end: Callable[[], None]) -> None:
    """Stop on SIGTERM and Ctrl+C as Celery does, when its tasks are done; but not later than the settings say.

    On SIGHUP of `headgate up`, which has started another worker, they have more time.
    """
    seconds = settings.celery.shutdown_seconds

    def end() -> None:
        before_end()
        os._exit(0)

    def arrange(number: int, seconds: float = seconds, like: int | None = None) -> None:
        before = signal.getsignal(like or number)

        def stop(received: int, frame: FrameType | None) -> None:
            # What is cut off is taken over at once: the kernel lets go of the children's locks.
            last = threading.Timer(seconds, end)
            last.daemon = True
            last.start()
            if callable(before):
                before(received, frame)

        signal.signal(number, stop)

    if sys.platform != "win32":
        arrange(signal.SIGHUP, max(seconds, settings.server.handover_seconds), like=signal.SIGTERM)
        arrange(signal.SIGINT)
    arrange(signal.SIGTERM)
