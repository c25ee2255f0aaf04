"""Distributions of Headgate built from a copy of this checkout, and environments that they are installed in."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).parents[2]
UV = TOP / subprocess.run(["scripts/ensure-uv"], capture_output=True, text=True, check=True, cwd=TOP).stdout.strip()
TIMEOUT_SECONDS = 400


def run(command: Sequence[str | Path], folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command without the settings and the environment of the tests."""
    private = ("HEADGATE_", "PYTEST", "VIRTUAL_ENV", "UV_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(private)}
    return subprocess.run(
        command,
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )


def succeed(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """Standard output of a command that must succeed."""
    result = run(command, folder, **environment)
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


def copy_checkout(folder: Path) -> Path:
    """The files of this checkout that git tracks or would add, in a folder of their own: what a fresh clone has."""
    folder.mkdir(parents=True, exist_ok=True)
    names = succeed(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], TOP)
    present = "\0".join(name for name in names.split("\0") if name and (TOP / name).is_file())
    packed = folder.with_suffix(".tar")
    listing = folder.with_suffix(".list")
    listing.write_text(present)
    succeed(["tar", "--create", "--null", "--files-from", listing, "--file", packed], TOP)
    succeed(["tar", "--extract", "--file", packed], folder)
    packed.unlink()
    listing.unlink()
    return folder


def copy_tree(source: Path, target: Path) -> None:
    """Copy a large folder, with hard links where both are on one file system."""
    if run(["cp", "--archive", "--link", "--no-target-directory", source, target], TOP).returncode:
        succeed(["cp", "--archive", "--force", "--no-target-directory", source, target], TOP)


@dataclass(frozen=True)
class Installation:
    """A clean environment with a distribution of Headgate and what it requires, in the locked versions."""

    folder: Path

    @property
    def headgate(self) -> Path:
        """The program."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / "headgate"

    def packages(self) -> list[str]:
        """Names of the packages that were installed beside Headgate."""
        listed = succeed([UV, "pip", "list", "--quiet", "--format", "freeze", "--python", self.folder], self.folder)
        names = [line.partition("==")[0] for line in listed.split()]
        return [name for name in names if name != "headgate"]

    def megabytes(self) -> float:
        """Size of all files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()) / 1e6


def constraints(folder: Path) -> Path:
    """The locked versions, as a file for installers."""
    path = folder / "constraints.txt"
    options = ("--locked", "--quiet", "--all-extras", "--no-dev", "--no-hashes", "--no-emit-project")
    path.write_text(succeed([UV, "export", *options], TOP))
    return path


def install(distribution: Path, folder: Path, extras: Sequence[str] = (), python: str = sys.executable) -> Installation:
    """Install a distribution into a new environment."""
    succeed([UV, "venv", "--quiet", "--python", python, folder / "environment"], folder)
    made = Installation(folder / "environment")
    locked = constraints(folder)
    command: list[str | Path] = [UV, "pip", "install", "--quiet", "--python", made.folder]
    wanted = f"headgate[{','.join(extras)}] @ {distribution.as_uri()}"
    succeed([*command, "--constraint", locked, wanted], folder)
    return made
