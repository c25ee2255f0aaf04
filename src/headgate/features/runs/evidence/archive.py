"""The two formats of a package: a JSON document, or a zip of it with the contents of its artifacts. Pure."""

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
"""The date of every member, so that the zip does not depend on when it was made."""


def as_json(package: Mapping[str, Any], contents: Mapping[str, bytes] | None = None) -> bytes:
    """Return the canonical JSON document. Contents by their SHA-256, if given, are embedded in base64."""
    if not contents:
        return canonical(dict(package))
    embedded = {sha256: base64.b64encode(content).decode() for sha256, content in contents.items()}
    return canonical({**package, CONTENTS: embedded})


def as_zip(package: Mapping[str, Any], contents: Mapping[str, bytes]) -> bytes:
    """Return document and contents as an uncompressed zip: the same bytes with every library."""
    members = {DOCUMENT: as_json(package)} | {FOLDER + sha256: contents[sha256] for sha256 in sorted(contents)}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, _LONG_AGO)
            member.create_system = 3
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    return target.getvalue()


def artifacts_of(package: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Map SHA-256 to the description of each artifact that a package names and that was not removed."""
    return {
        artifact["sha256"]: artifact
        for _, artifact in named_artifacts(package)
        if isinstance(artifact.get("sha256"), str)
    }


def named_artifacts(package: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the artifact descriptions of each entry, with the entry's name. Accepts arbitrary JSON."""
    run = package.get("run")
    run_input = run.get("input") if isinstance(run, dict) else None
    yield from _listed("run", run_input.get("files") if isinstance(run_input, dict) else None)
    steps = package.get("step_results")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            yield from _listed(f"step '{step.get('step_id')}'", step.get("artifacts"))


def _listed(name: str, listed: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401 - from a file
    for artifact in listed if isinstance(listed, list) else ():
        if isinstance(artifact, dict):
            yield name, artifact


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


__all__ = ["CHAIN", "CONTENTS", "DOCUMENT", "FOLDER", "artifacts_of", "as_json", "as_zip", "named_artifacts"]
