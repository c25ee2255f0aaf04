"""The two forms of a package: a JSON document, or a zip of it with the contents of its artifacts. Pure."""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from headgate.features.runs.evidence.chain import CHAIN
from headgate.foundation.canonical import canonical

DOCUMENT = "evidence.json"
FOLDER = "artifacts/"
CONTENTS = "contents"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The date of every member: a zip must not say when it was made."""


def as_json(package: Mapping[str, Any], contents: Mapping[str, bytes] | None = None) -> bytes:
    """The document, canonical. Contents, by their SHA-256, are put inside in base64 when they are given."""
    if not contents:
        return canonical(dict(package))
    inside = {sha256: base64.b64encode(content).decode() for sha256, content in contents.items()}
    return canonical({**package, CONTENTS: inside})


def as_zip(package: Mapping[str, Any], contents: Mapping[str, bytes]) -> bytes:
    """The document and the contents beside it, stored and not compressed: the same bytes with every library."""
    members = {DOCUMENT: as_json(package)} | {FOLDER + sha256: contents[sha256] for sha256 in sorted(contents)}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            about = zipfile.ZipInfo(name, _LONG_AGO)
            about.create_system = 3
            about.external_attr = 0o644 << 16
            archive.writestr(about, content)
    return target.getvalue()


def artifacts_of(package: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """SHA-256 to what is said of the artifact, of all that a package names and that were not removed."""
    return {one["sha256"]: one for _, one in named_artifacts(package) if isinstance(one.get("sha256"), str)}


def named_artifacts(package: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each entry says of its artifacts, with the entry's name. Takes what any file may hold."""
    run = package.get("run")
    given = run.get("input") if isinstance(run, dict) else None
    yield from _listed("run", given.get("files") if isinstance(given, dict) else None)
    steps = package.get("step_results")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            yield from _listed(f"step '{step.get('step_id')}'", step.get("artifacts"))


def _listed(name: str, found: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401 - from a file
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            yield name, one


def sha256_of(content: bytes) -> str:
    """SHA-256, 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


__all__ = ["CHAIN", "CONTENTS", "DOCUMENT", "FOLDER", "artifacts_of", "as_json", "as_zip", "named_artifacts"]
