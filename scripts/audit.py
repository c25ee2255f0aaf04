"""Checks every locked package for known vulnerabilities: `make audit`.

It asks the services of the package managers' own clients (`uv audit`, `npm audit`) and keeps what they say, with the
date, in `.ci/advisories.json`. Where a service cannot be reached, the kept answers are compared with the lock files.

Exit code: 0 nothing known, 1 vulnerable packages, 2 not checked (no answer, and none kept for these versions).
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
KEPT = TOP / ".ci" / "advisories.json"
CLEAN, VULNERABLE, UNCHECKED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Advisory:
    """A known vulnerability of a locked package."""

    package: str
    version: str
    id: str
    summary: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service said of a set of packages."""

    date: str
    audited: list[str]
    """`name==version` of every package that was asked about."""
    advisories: list[Advisory] = field(default_factory=list)


def python_packages(lock: Path) -> list[str]:
    """`name==version` of everything in `uv.lock` that comes from a registry."""
    found = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    return sorted(f"{one['name']}=={one['version']}" for one in found if "registry" in one["source"])


def page_packages(lock: Path) -> list[str]:
    """`name==version` of everything in `package-lock.json`."""
    found = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    named = ((path.rpartition("node_modules/")[2], one) for path, one in found.items() if path)
    return sorted({f"{name}=={one['version']}" for name, one in named})


def read_uv(said: str) -> list[Advisory] | None:
    """The advisories in the JSON of `uv audit`; None when it is no answer."""
    answer = _json(said)
    if "vulnerabilities" not in answer:
        return None
    return [
        Advisory(one["dependency"]["name"], one["dependency"]["version"], one["display_id"], one["summary"] or "")
        for one in answer["vulnerabilities"]
    ]


def read_npm(said: str, packages: Iterable[str]) -> list[Advisory] | None:
    """The advisories in the JSON of `npm audit`; None when it is no answer."""
    answer = _json(said)
    if "vulnerabilities" not in answer or "error" in answer:
        return None
    versions = {name: version for name, _, version in (one.rpartition("==") for one in packages)}
    causes = [
        (name, cause)
        for name, one in answer["vulnerabilities"].items()
        for cause in one["via"]
        if isinstance(cause, dict)
    ]
    return [Advisory(name, versions.get(name, ""), cause["url"], cause["title"]) for name, cause in causes]


def outcome(packages: Sequence[str], fresh: list[Advisory] | None, kept: Answer | None) -> tuple[int, list[str]]:
    """The exit code and the lines for one package manager."""
    if fresh is not None:
        return (VULNERABLE if fresh else CLEAN), [_line(one) for one in fresh]
    if kept is None:
        return UNCHECKED, ["not checked: the service did not answer, and no earlier answer is kept."]
    lines = [f"the service did not answer; compared with the answer of {kept.date}."]
    known = [one for one in kept.advisories if f"{one.package}=={one.version}" in packages]
    unknown = sorted(set(packages) - set(kept.audited))
    lines += [_line(one) for one in known] + [f"not checked: {one} is newer than that answer." for one in unknown]
    return (VULNERABLE if known else UNCHECKED if unknown else CLEAN), lines


def _line(one: Advisory) -> str:
    return f"{one.package} {one.version}: {one.id} {one.summary}".rstrip()


def _json(said: str) -> dict[str, Any]:
    try:
        answer = json.loads(said)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def load(path: Path) -> dict[str, Answer]:
    """The kept answers by package manager."""
    found = _json(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {
        name: Answer(one["date"], one["audited"], [Advisory(**each) for each in one["advisories"]])
        for name, one in found.items()
    }


def _said(command: Sequence[str]) -> str:
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Check both lock files, print what is known, keep fresh answers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--uv", default="uv")
    parser.add_argument("--npm", default="npm")
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--allow-unchecked", action="store_true", help="0 in place of 2, for machines without network")
    asked = parser.parse_args(arguments)
    python, page = python_packages(TOP / "uv.lock"), page_packages(TOP / "web" / "package-lock.json")
    fresh = {
        "python": (python, read_uv(_said([asked.uv, "audit", "--locked", "--output-format", "json"]))),
        "page": (page, read_npm(_said([asked.npm, "audit", "--json"]), page)),
    }
    kept, today, codes = load(asked.kept), datetime.now(UTC).date().isoformat(), []
    for name, (packages, advisories) in fresh.items():
        code, lines = outcome(packages, advisories, kept.get(name))
        codes.append(code)
        print(f"{name}: {len(packages)} packages, {'nothing known' if code == CLEAN else 'see below'}")
        print("".join(f"  {line}\n" for line in lines), end="")
        if advisories is not None:
            kept[name] = Answer(today, list(packages), advisories)
    if any(advisories is not None for _, advisories in fresh.values()):
        text = json.dumps({name: asdict(one) for name, one in kept.items()}, indent=1)
        asked.kept.write_text(text + "\n", encoding="utf-8")
    code = VULNERABLE if VULNERABLE in codes else max(codes)
    return CLEAN if code == UNCHECKED and asked.allow_unchecked else code


if __name__ == "__main__":
    sys.exit(main())
