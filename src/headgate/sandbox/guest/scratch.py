"""Making and removing scratch folders whose content is hostile."""

import os
from pathlib import Path


def make_scratch(parent: Path, name: str, user: int | None) -> Path:
    """A new folder that only its user can enter."""
    folder = parent / name
    folder.mkdir(mode=0o700)
    if user is not None:
        os.chown(folder, user, user)
    return folder


def remove_scratch(folder: Path) -> None:
    """Remove a folder and all in it, however deep, following no link, also where modes forbid it.

    Every folder found is first moved up into one of our own, so paths stay short and nothing recurses: a worker can
    nest deeper than `shutil.rmtree` and the longest path reach. Call when the writer is dead.

    Raises:
        OSError: Something could not be removed.
    """
    grave = folder.with_name(folder.name + ".removed")
    grave.mkdir(mode=0o700)
    moved = grave / "0"
    folder.rename(moved)
    waiting, count = [moved], 1
    while waiting:
        current = waiting.pop()
        current.chmod(0o700)
        with os.scandir(current) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    found = Path(entry.path)
                    found.chmod(0o700)  # moving a folder needs the right to write in it
                    waiting.append(found.rename(grave / str(count)))
                    count += 1
                else:
                    Path(entry.path).unlink()
        current.rmdir()
    grave.rmdir()
