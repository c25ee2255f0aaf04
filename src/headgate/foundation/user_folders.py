"""The operating system's folders for a user's application data and caches.

Sources: the XDG Base Directory Specification, Apple's File System Programming Guide, and Windows' known folders.
"""

import os
import sys
from pathlib import Path

_APPLICATION = "headgate"


def user_data_folder() -> Path:
    """Return the folder for data, for example `~/.local/share/headgate`; it may not exist yet."""
    if sys.platform == "win32":
        return _local_app_data() / _APPLICATION
    if sys.platform == "darwin":
        return Path("~/Library/Application Support").expanduser() / _APPLICATION
    return _xdg("XDG_DATA_HOME", "~/.local/share") / _APPLICATION


def user_cache_folder() -> Path:
    """Return the folder for files that can be made or downloaded again, for example `~/.cache/headgate`."""
    if sys.platform == "win32":
        return _local_app_data() / _APPLICATION / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser() / _APPLICATION
    return _xdg("XDG_CACHE_HOME", "~/.cache") / _APPLICATION


def _local_app_data() -> Path:
    return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")


def _xdg(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable, "").strip() or default).expanduser()
