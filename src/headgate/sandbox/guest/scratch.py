"""Creates and removes scratch folders with hostile content."""

import os
from pathlib import Path


def make_scratch(parent: Path, name: str, user: int | None) -> Path:
    """Create a folder that only its user can enter."""
    folder = parent / name
    folder.mkdir(mode=0o700)
    if user is not None:
        os.chown(folder, user, user)
    return folder


def remove_scratch(folder: Path) -> None:
    """Remove a folder and its content at any depth, without following links, also where modes forbid it.

    Every folder is first moved up, so paths stay short and nothing recurses: a worker can nest deeper than
    `shutil.rmtree` and the longest path allow. Call when the writer is dead.

    Raises:
        OSError: Something could not be removed.
    """
    grave = folder.with_name(folder.name + ".removed")
    grave.mkdir(mode=0o700)
    target = grave / "0"
    folder.rename(target)
    waiting, count = [target], 1
    while waiting:
        current = waiting.pop()
        current.chmod(0o700)
        with os.scandir(current) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    path = Path(entry.path)
                    path.chmod(0o700)  # moving a folder requires write permission on it
                    waiting.append(path.rename(grave / str(count)))
                    count += 1
                else:
                    Path(entry.path).unlink()
        current.rmdir()
    grave.rmdir()
