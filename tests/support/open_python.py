"""A Python that every user can run: the tests of programs run them as another user where the tests run as root."""

import os
import shutil
import sys
import sysconfig
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "test", "__pycache__", "idlelib", "tkinter", "ensurepip", "config-*"
)


def is_open(path: Path) -> bool:
    """Whether every user can reach a file."""
    real = path.resolve()
    return all(folder.stat().st_mode & 0o001 for folder in real.parents)


for_any_user = pytest.mark.skipif(
    os.geteuid() == 0 and not is_open(Path(__file__)), reason="other users cannot reach the tests' packages"
)
"""Marks tests of programs that run the tests' packages."""


def open_python() -> list[str]:
    """The command of an interpreter: this one, or a copy of it and its library beside the tests' packages."""
    if os.geteuid() != 0 or is_open(Path(sys.executable)):
        return [sys.executable]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    place = Path(sys.prefix, "open-python")
    if not place.exists():
        base = Path(sys.base_prefix)
        made = Path(tempfile.mkdtemp(dir=sys.prefix))
        made.chmod(0o755)
        (made / "bin").mkdir()
        shutil.copy2(Path(sys.executable).resolve(), made / "bin" / version)
        shutil.copytree(sysconfig.get_path("stdlib"), made / "lib" / version, ignore=_LEFT_OUT)
        for library in (base / "lib").glob("libpython*.so*"):
            shutil.copy2(library, made / "lib")
        with suppress(OSError):  # another process made it first
            made.rename(place)
        shutil.rmtree(made, ignore_errors=True)
    return ["env", f"LD_LIBRARY_PATH={place / 'lib'}", str(place / "bin" / version)]


def command_of(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of the tests from any folder."""
    paths = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    run = f"import runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    return [*open_python(), "-c", f"import sys; sys.path[:0] = {paths!r}; {run}", *arguments]
