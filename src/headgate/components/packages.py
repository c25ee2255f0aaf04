"""The Python packages installed with Headgate, and their licences."""

import csv
import fnmatch
import re
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata, distributions
from pathlib import Path, PurePosixPath

from pydantic import JsonValue, PrivateAttr

from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.sdk import Component, Table, Text, field, output
from headgate.sdk.coerce import clean_text

_LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|notice)([-._].*)?$", re.IGNORECASE)
_CODE_SUFFIXES = frozenset({".py", ".pyc", ".pyi", ".so", ".json", ".css", ".js"})
_TEXT_CAP = 512 * 1024
"""Maximum size of a licence file, in bytes."""


@dataclass(frozen=True, slots=True)
class Package:
    """One installed package."""

    name: str
    version: str
    licence: str
    summary: str
    homepage: str
    files: int
    size_bytes: int
    """Size of its metadata and licence texts."""
    licence_text: str


class InstalledPackages(Component):
    """Lists the Python packages installed on this server: version, licence, summary, homepage and licence texts.

    Use it for licence reviews, software bills of materials and dependency audits.
    """

    label = "Installed packages"
    category = "input"
    icon = "package"
    keywords = (
        "licence", "license", "licenses", "dependencies", "sbom", "bill of materials", "python", "libraries",
        "modules", "compliance", "audit", "inventory", "metadata", "pip", "versions", "open source", "copyright",
        "third-party", "software", "review",
    )  # fmt: skip

    match: str = field(
        default="",
        label="Names",
        help="Only packages whose name contains this text; separate several with commas, `*` is a wildcard.",
        tool_mode=True,
        port=False,
        max_length=2000,
    )
    licence_texts: bool = field(
        default=False, label="Licence texts", help="Add the full text of LICENSE, COPYING and NOTICE files."
    )
    _found: list[Package] | None = PrivateAttr(default=None)

    @output(
        help=("One row per package: name, version, licence, summary, homepage, files, size_bytes (and licence_text).")
    )
    async def table(self) -> Table:
        """Return the packages as rows, by name."""
        columns = ["name", "version", "licence", "summary", "homepage", "files", "size_bytes"]
        columns += ["licence_text"] if self.licence_texts else []
        rows: list[list[JsonValue]] = [
            [getattr(package, name) for name in columns] for package in await self._packages()
        ]
        return Table(columns=columns, rows=rows)

    @output(help="A Markdown inventory: licences by number of packages, then each package.")
    async def text(self) -> Text:
        """Return the packages as a readable inventory."""
        return inventory(await self._packages(), licence_texts=self.licence_texts)

    async def _packages(self) -> list[Package]:
        if self._found is None:
            self._found = await run_in_flow_thread(installed, self.match)
        return self._found


def installed(match: str = "") -> list[Package]:
    """Return the installed packages whose name matches, sorted by name. Reads files; takes up to a second."""
    needles = [part.strip().lower() for part in match.split(",") if part.strip()]
    packages: dict[str, Package] = {}
    for distribution in distributions():
        metadata = distribution.metadata  # parsed by each access
        name = metadata["Name"] or ""
        key = re.sub(r"[-_.]+", "-", name).lower()
        if name and key not in packages and (not needles or any(_matches(name.lower(), part) for part in needles)):
            packages[key] = _package(distribution, metadata)
    return [packages[key] for key in sorted(packages)]


def inventory(packages: list[Package], *, licence_texts: bool) -> str:
    """Return a Markdown document about the packages."""
    counts: dict[str, int] = {}
    for package in packages:
        counts[package.licence] = counts.get(package.licence, 0) + 1
    lines = [f"# Installed packages ({len(packages)})", "", "## Licences", ""]
    lines += [
        f"- {licence}: {count}" for licence, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    lines += ["", "## Packages", ""]
    for package in packages:
        lines.append(f"### {package.name} {package.version}")
        lines += ["", f"- Licence: {package.licence}"]
        lines += [f"- Homepage: {package.homepage}"] if package.homepage else []
        lines += ["", package.summary] if package.summary else []
        if licence_texts and package.licence_text:
            lines += ["", *(f"    {line}" for line in package.licence_text.splitlines())]
        lines.append("")
    return "\n".join(lines)


def _matches(name: str, part: str) -> bool:
    return fnmatch.fnmatchcase(name, part) if set(part) & set("*?[") else part in name


def _package(distribution: Distribution, metadata: PackageMetadata) -> Package:
    files = _files(distribution)
    written = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    texts = _licence_texts(distribution, files)
    return Package(
        name=metadata["Name"],
        version=metadata["Version"],
        licence=licence_of(metadata),
        summary=_one_line(metadata["Summary"]),
        homepage=_homepage(metadata),
        files=len(files),
        size_bytes=len(written.encode(errors="replace")) + sum(len(text.encode()) for text in texts.values()),
        licence_text="\n\n".join(f"{path}\n\n{text}" for path, text in texts.items()),
    )


def licence_of(metadata: PackageMetadata) -> str:
    """The licence in one line: the SPDX expression, else the classifiers, else the licence field's first line."""
    expression = _one_line(metadata["License-Expression"])
    if expression:
        return expression
    names = [
        line.rpartition("::")[2].strip() for line in metadata.get_all("Classifier") or [] if line[:9] == "License :"
    ]
    names = [name for name in names if name not in {"OSI Approved", "DFSG approved"}]
    first = next((line for line in str(metadata["License"] or "").splitlines() if line.strip()), "")
    return " / ".join(names) or _one_line(first)[:120] or "Unknown"


def _homepage(metadata: PackageMetadata) -> str:
    """Return the URL labelled homepage, else source or repository, else the first one."""
    urls: dict[str, str] = {}
    for line in metadata.get_all("Project-URL") or []:
        label, _, url = str(line).partition(",")
        urls.setdefault(label.strip().lower(), url.strip())
    preferred = ("homepage", "home", "home-page", "source", "source code", "repository", "github", "documentation")
    preferred_url = next((urls[label] for label in preferred if label in urls), "")
    return preferred_url or _one_line(metadata["Home-page"]) or next(iter(urls.values()), "")


def _files(distribution: Distribution) -> list[str]:
    """Return the paths that a package lists. `Distribution.files` makes an object of each of them, and is slow."""
    record = distribution.read_text("RECORD")
    if record is not None:
        return [row[0] for row in csv.reader(record.splitlines()) if row]
    return [str(path) for path in distribution.files or ()]


def _licence_texts(distribution: Distribution, files: list[str]) -> dict[str, str]:
    """Path to text of the licence files: those next to the metadata, or any in the package when there are none."""
    named = (PurePosixPath(file) for file in files if _LICENCE_FILE.match(file.rpartition("/")[2]))
    paths = [path for path in named if path.suffix.lower() not in _CODE_SUFFIXES and ".." not in path.parts]
    metadata_paths = [path for path in paths if path.parts[0].endswith((".dist-info", ".egg-info"))]
    texts: dict[str, str] = {}
    for path in metadata_paths or paths:
        try:
            with Path(str(distribution.locate_file(path))).open("rb") as stream:
                texts[str(path)] = clean_text(stream.read(_TEXT_CAP).decode(errors="replace").strip())
        except OSError:
            continue  # listed by the package, missing on disk
    return texts


def _one_line(value: object) -> str:
    return clean_text(" ".join(str(value or "").split()))
