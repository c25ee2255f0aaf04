"""Makes a release: version, changelog, commit, tag, distributions, bills of materials, checksums and a signature.

Nothing is published: the files are in `dist/VERSION`, commit and tag in the local repository. `--dry-run` checks
everything, prints what would change and run, and writes nothing.
"""

import argparse
import datetime as dt
import difflib
import hashlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VERSIONED = {
    "pyproject.toml": r'^version = "{}"$',
    "src/headgate/__init__.py": r'^__version__ = "{}"$',
    "uv.lock": r'^name = "headgate"\nversion = "{}"$',
    "web/package.json": r'^  "version": "{}",$',
    "web/package-lock.json": r'"name": "headgate-studio",\n +"version": "{}",$',
    "deploy/Dockerfile": r"headgate:{}",
    "deploy/compose.yaml": r"headgate:{}",
    "deploy/compose.team.yaml": r"headgate:{}",
    "deploy/helm/headgate/Chart.yaml": r'^(?:version: {0}|appVersion: "{0}")$',
    "docs/operate/install-containers.md": r"headgate:{}",
    "docs/operate/install-packages.md": r"headgate-{}-py3",
    "docs/operate/install-systemd.md": r"headgate-{}-py3",
}
"""Files that name the version, and the pattern of each place."""
CHANGELOG = "CHANGELOG.md"
NAMESPACE = "headgate-release"
"""What the signature is for; `ssh-keygen -Y verify` needs the same name."""
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:rc\d+)?")
_UNRELEASED = "## [Unreleased]\n"


class Refused(Exception):
    """The release cannot be made; says why and what to do."""


@dataclass(frozen=True)
class Release:
    """A release to be made in a checkout."""

    top: Path
    version: str
    date: str
    key: Path

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.top / "dist" / self.version

    def check(self) -> None:
        """Raise `Refused` unless checkout, version, changelog and key allow a release."""
        if not _VERSION.fullmatch(self.version):
            raise Refused(f"'{self.version}' is no version. Write it as 1.2.3 or 1.2.3rc1.")
        if _order(self.version) <= _order(self.current()):
            raise Refused(f"{self.version} does not come after {self.current()}.")
        if self._git("status", "--porcelain"):
            raise Refused("The checkout has changes. Commit them first.")
        if self._git("tag", "--list", f"v{self.version}"):
            raise Refused(f"The tag v{self.version} exists.")
        if self.folder.exists():
            raise Refused(f"{self.folder} exists. Remove it first.")
        if not self.key.is_file():
            raise Refused(f"There is no signing key {self.key}. Make one: ssh-keygen -t ed25519 -f {self.key}")

    def current(self) -> str:
        """The version of the checkout."""
        found = re.search(r'^version = "([^"]+)"$', (self.top / "pyproject.toml").read_text(), re.MULTILINE)
        if found is None:
            raise Refused("pyproject.toml names no version.")
        return found[1]

    def edits(self) -> dict[Path, str]:
        """New texts of the files that name the version, and of the changelog. Raises `Refused`."""
        texts = {self.top / name: self._bumped(name, pattern) for name, pattern in VERSIONED.items()}
        return texts | {self.top / CHANGELOG: self._dated((self.top / CHANGELOG).read_text(encoding="utf-8"))}

    def commands(self) -> list[list[str]]:
        """What is run after the edits, in this order."""
        uv = str(Path(self.top, subprocess.check_output(["scripts/ensure-uv"], cwd=self.top, text=True).strip()))
        out = str(self.folder)
        python = ["--no-dev", "--all-extras", "--format", "cyclonedx1.5", "--output-file", f"{out}/python.cdx.json"]
        return [
            ["git", "commit", "--all", "--quiet", "--message", f"Release {self.version}"],
            ["git", "tag", "--annotate", f"v{self.version}", "--message", f"Headgate {self.version}"],
            [uv, "build", "--quiet", "--python", sys.executable, "--out-dir", out],
            [uv, "export", "--locked", "--quiet", *python],
            ["sh", "-c", f"scripts/npm sbom --omit dev --sbom-format cyclonedx > {shlex.quote(out)}/page.cdx.json"],
        ]

    def make(self) -> None:
        """Write, commit, tag, build, sum and sign."""
        for path, text in self.edits().items():
            path.write_text(text, encoding="utf-8")
        for command in self.commands():
            subprocess.run(command, cwd=self.top, env=self._environment(), check=True, stdout=subprocess.DEVNULL)
        (self.folder / ".gitignore").unlink(missing_ok=True)
        sums = [
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in sorted(self.folder.iterdir())
        ]
        checksums = self.folder / "SHA256SUMS"
        checksums.write_text("\n".join(sums) + "\n")
        sign = ["ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(self.key), str(checksums)]
        subprocess.run(sign, check=True, capture_output=True)

    def _bumped(self, name: str, pattern: str) -> str:
        text = (self.top / name).read_text(encoding="utf-8")
        current = self.current()
        places = re.compile(pattern.format(re.escape(current)), re.MULTILINE)
        changed, count = places.subn(lambda match: match[0].replace(current, self.version), text)
        if not count:
            raise Refused(f"{name} does not name the version {current}.")
        return changed

    def _dated(self, text: str) -> str:
        before, found, after = text.partition(_UNRELEASED)
        if not found or not after.partition("\n## [")[0].strip():
            raise Refused(f"{CHANGELOG} says nothing under '{_UNRELEASED.strip()}'.")
        return f"{before}{_UNRELEASED}\n## [{self.version}] - {self.date}\n{after}"

    def _environment(self) -> dict[str, str]:
        """Distributions have the time of the commit that they are built from."""
        return os.environ | {"SOURCE_DATE_EPOCH": self._git("log", "-1", "--format=%ct")}

    def _git(self, *arguments: str) -> str:
        return subprocess.check_output(["git", *arguments], cwd=self.top, text=True).strip()


def _order(version: str) -> tuple[int, ...]:
    """A key that sorts versions; a release comes after its candidates."""
    number, _, candidate = version.partition("rc")
    return (*(int(part) for part in number.split(".")), int(candidate) if candidate else sys.maxsize)


def show(release: Release) -> None:
    """Print what would change and run."""
    for path, text in release.edits().items():
        name = str(path.relative_to(release.top))
        lines = difflib.unified_diff(
            path.read_text(encoding="utf-8").splitlines(), text.splitlines(), name, name, n=0, lineterm=""
        )
        print("\n".join(lines))
    for command in release.commands():
        print(f"would run: {shlex.join(command)}")
    print(f"would write {release.folder / 'SHA256SUMS'} and sign it with {release.key}")


def main(arguments: Sequence[str] | None = None, *, top: Path = Path(__file__).parents[1]) -> int:
    """Make the release that the arguments name, or print what it would be. Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="version of the release, such as 0.2.0 or 0.2.0rc1")
    parser.add_argument("--key", type=Path, required=True, help="SSH key that signs the checksums")
    parser.add_argument("--dry-run", action="store_true", help="check, and print what would be done")
    parser.add_argument("--date", default=dt.datetime.now(dt.UTC).date().isoformat(), help="date of the release")
    given = parser.parse_args(arguments)
    release = Release(top, given.version, given.date, given.key)
    try:
        release.check()
        if given.dry_run:
            show(release)
            return 0
        release.make()
    except Refused as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    print(
        f"Headgate {release.version} is in {release.folder}; commit and tag v{release.version} are local. Publish them:"
    )
    print(f"  git push origin HEAD v{release.version} && uv publish {release.folder}/headgate-*")
    return 0


if __name__ == "__main__":
    sys.exit(main())
