"""What workers may read: the standard library, installed packages and the shared libraries both need."""

import sys
import sysconfig
from pathlib import Path

SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/urandom",
)
"""Shared libraries, time zones and randomness; what does not exist is left out."""

DEVICES = ("/dev/null", "/dev/zero")

_PRELOAD = """
    base64 bisect calendar collections copy csv dataclasses datetime decimal difflib enum fractions functools hashlib
    heapq html io itertools math operator random re statistics string textwrap threading time typing unicodedata
    urllib.parse uuid zoneinfo
"""
PRELOAD = tuple(_PRELOAD.split())
"""What own code imports most, loaded once by the zygote."""


def installed_packages() -> tuple[str, ...]:
    """The folders of packages installed beside Headgate."""
    return tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))


def readable_paths(import_paths: tuple[str, ...]) -> tuple[str, ...]:
    """Everything a worker may read, given the folders it imports from."""
    standard = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(sys.base_prefix, "lib")))
    return tuple(dict.fromkeys((*standard, *SYSTEM, *import_paths)))
