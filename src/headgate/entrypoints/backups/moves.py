"""Where a restore prepares files, and how they are moved into place."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headgate.entrypoints.backups.places import BEFORE, STAGING, Place, is_ours
from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.pending_restore import JOURNAL, Move, begin, finish, sync_folder
from headgate.foundation.private_files import private_folder

SPARE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Staged:
    """A place, and where its new content is prepared: on the same file system."""

    place: Place
    folder: Path
    path: Path
    mounted: bool
    """Whether the place is a mount point, whose content is replaced and not the folder itself."""


def stage(places: Sequence[Place]) -> list[Staged]:
    """Where the new content of each place is prepared."""
    number = new_id()
    staged: list[Staged] = []
    for place in places:
        mounted = place.is_folder and os.path.ismount(place.path)
        folder = (place.path if mounted else place.path.parent) / f"{STAGING}{number}"
        staged.append(Staged(place, folder, folder if mounted else folder / place.path.name, mounted))
    return staged


@contextmanager
def staging(data_dir: Path, folders: set[Path], size: int) -> Iterator[None]:
    """Make the folders for preparation. They are removed at the end, unless moves out of them are still to be made.

    Raises `Unavailable` when the backup does not fit.
    """
    with ExitStack() as stack:
        for folder in folders:
            for stale in folder.parent.glob(f"{STAGING}*"):  # of a restore that was killed
                shutil.rmtree(stale, ignore_errors=True)
            private_folder(folder)
            stack.callback(_remove, folder, data_dir / JOURNAL)
            free = shutil.disk_usage(folder).free
            if free < size + SPARE_BYTES:
                raise Unavailable(
                    f"The backup needs {size:,} bytes in {folder.parent}, and {free:,} are free.",
                    remedy="Free some space and try again.",
                )
        yield


def _remove(folder: Path, journal: Path) -> None:
    if not journal.exists():
        shutil.rmtree(folder, ignore_errors=True)


def new_stamp() -> str:
    """The name of what a restore made now keeps aside."""
    return f"{BEFORE}{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"


def move_into_place(data_dir: Path, staged: Sequence[Staged]) -> list[str]:
    """Move what is there aside, and what was prepared into its place. Returns the folders with what was there."""
    aside = plan_moves(data_dir, staged, new_stamp(), marker=None)
    finish(data_dir)
    return aside


def plan_moves(data_dir: Path, staged: Sequence[Staged], stamp: str, *, marker: str | None) -> list[str]:
    """Write the journal of the moves; see `pending_restore.begin`. Returns the folders with what is there now."""
    aside: list[Move] = []
    into: list[Move] = []
    for part in staged:
        target = part.place.path
        keep = (target if part.mounted else target.parent) / stamp
        if part.mounted:
            present = [path for path in target.iterdir() if not is_ours(path.name)]
            into += [(path, target / path.name) for path in part.path.iterdir()]
        else:
            present = [path for path in (target, *part.place.side_files) if os.path.lexists(path)]
            into += [(part.path, target)] if part.path.exists() else []
        aside += [(path, keep / path.name) for path in present]
    folders = {part.folder for part in staged}
    for folder in folders:  # contents are on the disk already; now their names
        for path, _, _ in os.walk(folder):
            sync_folder(Path(path))
    begin(data_dir, aside, into, sorted(folders), marker=marker)
    return sorted({str(target.parent) for _, target in aside})
