"""Makes libraries accessible to workers that may not enter their folders.

A server run as root may use a Python under `/root`, which the worker's user cannot enter. The zygote, still root, opens
such folders once and adds them to the import path by descriptor (`/proc/self/fd/N`): the libraries become accessible,
the folders around them do not. Landlock resolves the descriptor to the real folder and applies the same rules.
"""

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path


def open_to_others(folder: Path) -> bool:
    """Return whether a user without privileges can enter and read this folder."""
    try:
        modes = [path.stat().st_mode for path in (folder.resolve(), *folder.resolve().parents)]
    except OSError:
        return True  # it does not exist
    return all(mode & stat.S_IXOTH for mode in modes) and bool(modes[0] & stat.S_IROTH)


def reroute(folders: Iterable[str]) -> tuple[int, ...]:
    """Replace inaccessible folders of the import path and of loaded packages; the descriptors must stay open."""
    aliases = {}
    for folder in folders:
        if Path(folder).is_dir() and not open_to_others(Path(folder)):
            aliases[folder] = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    if aliases:
        sys.path[:] = [_aliased(path, aliases) for path in sys.path]
        for module in list(sys.modules.values()):
            if isinstance(paths := getattr(module, "__path__", None), list):
                paths[:] = [_aliased(path, aliases) for path in paths]
        sys.path_importer_cache.clear()
    return tuple(aliases.values())


def _aliased(path: str, aliases: dict[str, int]) -> str:
    """Return the path below the longest aliased folder that contains it."""
    for folder in sorted(aliases, key=len, reverse=True):
        if path == folder or path.startswith(folder + os.sep):
            return f"/proc/self/fd/{aliases[folder]}" + path.removeprefix(folder)
    return path
