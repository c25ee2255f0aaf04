"""Waits until the system reports a change in a folder of this machine. Listings decide what changed."""

import hashlib
import os
import posixpath
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.components.storage.paths import clean_path
from headgate.features.triggers.errors import TriggerInvalid
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.flow_threads import listen_in_flow_thread
from headgate.foundation.glob import Glob
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import watchfiles
else:
    watchfiles = lazy_module("watchfiles")

MOST_FOLDERS = 1_000
"""Folders of one trigger: the system has a limit for all processes of its user."""
MOST_ENTRIES = 10_000
QUIET_SECONDS = 1.0
"""Between two listings for events that changed nothing which the trigger selects."""
_STEP_MS = 200
"""How long no further event may follow before events count, and how long the end of the wait may be overlooked."""


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """What is watched.

    Args:
        root: The workspace, or the folder that the operator opened. Links in it are not followed.
        folder: The path in it; it may not exist yet.
        pattern: Selects files below the folder.
    """

    root: Path
    folder: str
    pattern: str


@dataclass(frozen=True, slots=True)
class _Listing:
    state: str
    """Changes with the names, sizes and times of the selected files."""
    folders: tuple[str, ...] = ()
    """Where an event can change the state: also those above the folder, which can be moved."""


async def wait_for_change(local: LocalFolder, known: str, seconds: float) -> str:
    """Return the state of a folder once it is not `known`, or after the time.

    Raises `ExtraNotInstalled`, `TriggerInvalid`, `UpstreamFailed`.
    """
    require_extra("watch", "Watching a folder")
    stop = threading.Event()
    try:
        return await listen_in_flow_thread(_changed, local, known, time.monotonic() + seconds, stop)
    finally:
        stop.set()


def _changed(local: LocalFolder, known: str, end: float, stop: threading.Event) -> str:
    while True:
        try:
            listing = _list(local)
            if listing.state != known or time.monotonic() >= end or stop.is_set():
                return listing.state
            _wait_for_event(local, listing, end, stop)
        except FileNotFoundError as error:  # moved while it was listed
            if not local.root.is_dir():
                raise UpstreamFailed("The watched folder does not exist.") from error
        except (OSError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise UpstreamFailed(f"The system does not watch the folder: {reason}.") from error
        stop.wait(min(QUIET_SECONDS, max(0.0, end - time.monotonic())))


def _wait_for_event(local: LocalFolder, listing: _Listing, end: float, stop: threading.Event) -> None:
    """Return after an event in the folders of a listing, at once when they changed since, and at the end."""
    events = watchfiles.watch(
        *listing.folders,
        watch_filter=None,
        step=_STEP_MS,
        rust_timeout=_STEP_MS,
        yield_on_timeout=True,
        stop_event=stop,
        force_polling=False,
        recursive=False,
        ignore_permission_denied=True,
    )
    with closing(events):
        reported = next(events, None)  # from here on the system reports
        if _list(local) != listing:
            return
        while reported is not None and not reported and time.monotonic() < end:
            reported = next(events, None)


def _list(local: LocalFolder) -> _Listing:
    """Return the state and the folders. Raises `FileNotFoundError` while folders are moved."""
    folder, folders = str(local.root), [str(local.root)]
    for part in filter(None, clean_path(local.folder, subject="The trigger", field="folder").split("/")):
        folder = posixpath.join(folder, part)
        if Path(folder).is_symlink() or not Path(folder).is_dir():
            return _Listing(f"no {folder}", tuple(folders))
        folders.append(folder)
    glob = Glob([part for part in local.pattern.split("/") if part not in {"", "."}] or ["*"])
    entries, pending, digest = 0, [(folder, glob.start)], hashlib.sha256()
    while pending:
        parent, states = pending.pop()
        with os.scandir(parent) as listed:
            children = sorted(listed, key=lambda entry: entry.name)
        entries += len(children)
        for entry in children:
            after = glob.step(states, entry.name)
            if entry.is_dir(follow_symlinks=False) and after:
                pending.append((entry.path, after))
                folders.append(entry.path)
            elif entry.is_file(follow_symlinks=False) and glob.accepts(after):
                status = entry.stat(follow_symlinks=False)
                version = f"\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\n"
                digest.update(os.fsencode(entry.path) + version.encode())
        if entries > MOST_ENTRIES or len(folders) > MOST_FOLDERS:
            raise TriggerInvalid(
                f"Folders with more than {MOST_ENTRIES:,} entries or {MOST_FOLDERS:,} folders are not watched.",
                remedy="Choose a smaller folder, or a pattern without **.",
            )
    return _Listing(digest.hexdigest(), tuple(folders))
