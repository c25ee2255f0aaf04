"""Verifies a package offline: its format, chain, artifacts and seal. Reports each fault with its location.

Needs no database, no settings and no network: `from headgate.features.runs.evidence.verify import verify`.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import rfc8785

from headgate.features.runs.evidence.archive import (
    CONTENTS,
    DOCUMENT,
    FOLDER,
    artifacts_of,
    as_zip,
    named_artifacts,
    sha256_of,
)
from headgate.features.runs.evidence.chain import Fault, broken_links, head_of
from headgate.features.runs.evidence.record import RECORD, is_record, record_faults
from headgate.features.runs.evidence.seal import FORMAT, broken_seal
from headgate.foundation.canonical import canonical, digest
from headgate.foundation.errors import Invalid
from headgate.foundation.key_history import KeyHistory, moment_of
from headgate.foundation.signing import EvidenceKey, exact_base64

LONGEST_DOCUMENT = 512 * 1024 * 1024
_EXPORT = "Export one with `headgate runs evidence RUN`."
_MEMBERS = frozenset({"format", "run", "definition_snapshot", "step_results", "seal"})
_ZIP_MAGIC = b"PK"


class NotEvidence(Invalid):
    """The file is not an evidence package."""

    code = "not_evidence"
    title = "Not an evidence package"


@dataclass(slots=True)
class Verdict:
    """Result of a verification."""

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be checked, and why that is not a fault."""
    kind: str = "run"
    """Kind of the evidence: a run, or the kind of a record's subject."""
    run_id: str = ""
    """Id of the run, or of the record's subject."""
    status: str = ""
    started_at: Any = None
    """When the run started, according to the package."""
    steps: int = 0
    key_id: str = ""
    artifacts_checked: int = 0

    @property
    def good(self) -> bool:
        """Whether there are no faults."""
        return not self.faults


def verify(content: bytes, key: EvidenceKey | None = None, history: KeyHistory | None = None) -> Verdict:
    """Verify a package. Raises `NotEvidence` when the file is something else.

    Args:
        content: The file, JSON or zip.
        key: The key that must have signed it. Without key and history, any key is accepted.
        history: The keys of which one must have signed it, within its validity period.
    """
    package_file = _Zipped(content) if content.startswith(_ZIP_MAGIC) else _Plain(content)
    package = package_file.package
    verdict = Verdict(faults=list(package_file.faults))
    if package.get("format") == RECORD:
        _check_record(package, verdict)
    else:
        verdict.faults += _form(package, allowed=package_file.members)
    if verdict.kind == "run" and (not verdict.faults or _is_complete(package)):
        _check_chain(package, verdict)
        _check_artifacts(package, package_file.contents, verdict, complete=package_file.complete)
    if key is not None and verdict.key_id != key.key_id:
        signer = verdict.key_id or "nobody"
        verdict.faults.append(Fault("seal", f"it is signed by {signer}, not by key {key.key_id}."))
    if history is not None:
        key_fault = history.fault(verdict.key_id, moment_of(verdict.started_at))
        verdict.faults += [] if key_fault is None else [Fault("seal", key_fault)]
    return verdict


def _check_record(document: Mapping[str, Any], verdict: Verdict) -> None:
    verdict.kind = "record"
    verdict.faults += record_faults(document)
    if is_record(document):
        subject = document["subject"]
        verdict.kind = "session" if subject.get("kind") == "session" else "record"
        verdict.run_id, verdict.status = str(subject.get("id", "")), str(subject.get("status", ""))
        verdict.steps, verdict.started_at = len(document["entries"]), subject.get("created_at")
        verdict.key_id = str(document["seal"].get("key_id", ""))


def _check_chain(package: Mapping[str, Any], verdict: Verdict) -> None:
    run, steps = package["run"], package["step_results"]
    entries = [("run", run), *((f"step '{step.get('step_id')}'", step) for step in steps)]
    broken = list(broken_links(entries))
    verdict.faults += broken
    if run.get("definition_sha256") != digest(package["definition_snapshot"]):
        verdict.faults.append(Fault("definition_snapshot", "it does not match the run's entry."))
    head = head_of(entry for _, entry in entries) if _has_hashes(entries) else ""
    seal_fault = broken_seal(package["seal"], head, len(steps))
    if seal_fault is not None:
        verdict.faults.append(Fault("seal", seal_fault))
    verdict.run_id, verdict.status = str(run.get("flow_run_id", "")), str(run.get("status", ""))
    verdict.steps, verdict.started_at = len(steps), run.get("started_at")
    verdict.key_id = str(package["seal"].get("key_id", ""))


def _has_hashes(entries: list[tuple[str, Mapping[str, Any]]]) -> bool:
    chains = [entry.get("chain") for _, entry in entries]
    return all(isinstance(chain, dict) and isinstance(chain.get("hash"), str) for chain in chains)


def _check_artifacts(
    package: Mapping[str, Any], contents: Mapping[str, bytes], verdict: Verdict, *, complete: bool
) -> None:
    artifacts = artifacts_of(package)
    for name, artifact in named_artifacts(package):
        if artifact.get("removed"):
            verdict.notes.append(
                f"{name}: artifact {artifact.get('id')} had already been removed at the time of export."
            )
    absent = 0
    for sha256, description in artifacts.items():
        content = contents.get(sha256)
        if content is not None:
            verdict.artifacts_checked += 1
            verdict.faults += _content_faults(description, content)
        elif complete:
            verdict.faults.append(Fault(f"artifact {description.get('id')}", "its content is not in the file."))
        else:
            absent += 1
    if absent:
        count_text = "1 artifact is" if absent == 1 else f"{absent} artifacts are"
        verdict.notes.append(f"{count_text} referenced by SHA-256; the contents are not in this file.")
    for sha256 in sorted(contents.keys() - artifacts.keys()):
        verdict.faults.append(Fault("file", f"it contains {sha256[:64]}, which no step refers to."))


def _content_faults(artifact: Mapping[str, Any], content: bytes) -> Iterator[Fault]:
    location = f"artifact {artifact.get('id')}"
    if sha256_of(content) != artifact["sha256"]:
        yield Fault(location, "its content was changed: its SHA-256 differs.")
    elif len(content) != artifact.get("size_bytes"):
        yield Fault(location, f"its content has {len(content)} bytes.")


def _form(package: Mapping[str, Any], *, allowed: frozenset[str]) -> Iterator[Fault]:
    if package.get("format") != FORMAT:
        yield Fault("file", f"its format is {str(package.get('format'))[:60]!r} and not {FORMAT!r}.")
    for member in sorted(_MEMBERS - package.keys()):
        yield Fault("file", f"'{member}' is missing.")
    for member in sorted(package.keys() - allowed):
        yield Fault("file", f"'{member[:60]}' was added.")
    if not _is_complete(package):
        yield Fault("file", "its parts do not form valid evidence.")


def _is_complete(package: Mapping[str, Any]) -> bool:
    steps = package.get("step_results")
    return (
        isinstance(package.get("run"), dict)
        and isinstance(package.get("seal"), dict)
        and isinstance(package.get("definition_snapshot"), dict)
        and isinstance(steps, list)
        and all(isinstance(step, dict) for step in steps)
    )


class _Plain:
    """A JSON document, optionally with embedded contents."""

    members = _MEMBERS | {CONTENTS}

    def __init__(self, content: bytes) -> None:
        self.package, self.faults = _document(content)
        embedded = self.package.get(CONTENTS)
        self.complete = isinstance(embedded, dict)
        self.contents: dict[str, bytes] = {}
        for sha256, text in (embedded if isinstance(embedded, dict) else {}).items():
            decoded = exact_base64(text)
            if decoded is None:
                self.faults.append(Fault("file", f"content {sha256[:64]} is not base64: it was changed."))
            else:
                self.contents[sha256] = decoded
        if embedded is not None and not self.complete:
            self.faults.append(Fault("file", f"'{CONTENTS}' must be an object."))


class _Zipped:
    """A zip with the document and the contents."""

    members = _MEMBERS
    complete = True

    def __init__(self, content: bytes) -> None:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                files = {member.filename: archive.read(member) for member in archive.infolist() if _is_ours(member)}
                strangers = [member.filename for member in archive.infolist() if not _is_ours(member)]
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, RuntimeError) as error:
            raise NotEvidence("The file is a damaged zip.", remedy="Export the evidence again.") from error
        if DOCUMENT not in files:
            raise NotEvidence(f"The zip has no {DOCUMENT}.", remedy=_EXPORT)
        self.package, self.faults = _document(files.pop(DOCUMENT))
        self.faults += [Fault("file", f"it contains an unknown entry: {name[:60]!r}.") for name in strangers]
        self.contents = {name.removeprefix(FOLDER): content for name, content in files.items()}
        if not self.faults and as_zip(self.package, self.contents) != content:
            self.faults.append(Fault("file", "the zip was repacked or changed outside its entries."))


def _is_ours(member: zipfile.ZipInfo) -> bool:
    """Whether a zip holds stored members only: uncompressed data cannot be a zip bomb."""
    is_named = member.filename == DOCUMENT or member.filename.startswith(FOLDER)
    return is_named and member.compress_type == zipfile.ZIP_STORED and member.file_size <= LONGEST_DOCUMENT


def _document(content: bytes) -> tuple[dict[str, Any], list[Fault]]:
    """Return the JSON object of a file, and whether its bytes are in canonical form."""
    try:
        package = json.loads(content, object_pairs_hook=_without_doubles, parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise NotEvidence("The file is neither a JSON document nor a zip archive.", remedy=_EXPORT) from error
    except (ValueError, RecursionError) as error:
        raise NotEvidence(f"The file is not a JSON document: {str(error)[:200]}.", remedy=_EXPORT) from error
    if not isinstance(package, dict) or not _MEMBERS & package.keys():
        raise NotEvidence("The file is not evidence of a run or session.", remedy=_EXPORT)
    try:
        same = canonical(package) == content
    except rfc8785.CanonicalizationError as error:
        raise NotEvidence(f"The file contains a value that is not valid in evidence: {str(error)[:200]}") from error
    return package, [] if same else [
        Fault("file", "it is not in canonical form (RFC 8785): it was reformatted, or bytes between values changed.")
    ]


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object has a duplicate member")
    return members


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
