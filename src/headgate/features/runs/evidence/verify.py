"""Checks a package offline: its form, every link of its chain, every artifact, its seal. Says what is wrong, and where.

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
    """The file is no evidence package."""

    code = "not_evidence"
    title = "Not an evidence package"


@dataclass(slots=True)
class Verdict:
    """What a check came to."""

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be checked, and why that is no fault."""
    kind: str = "run"
    """What the evidence is of: a run, or the kind of a record's subject."""
    run_id: str = ""
    """Of the run, or of the record's subject."""
    status: str = ""
    started_at: Any = None
    """When the run began, as the package says it."""
    steps: int = 0
    key_id: str = ""
    artifacts_checked: int = 0

    @property
    def good(self) -> bool:
        """Whether everything holds."""
        return not self.faults


def verify(content: bytes, key: EvidenceKey | None = None, history: KeyHistory | None = None) -> Verdict:
    """Check a package. Raises `NotEvidence` when the file is something else.

    Args:
        content: The file, JSON or zip.
        key: The key that must have signed it. Without one, and without a history, whoever holds any key may have.
        history: The keys of which one must have signed it, while it was valid.
    """
    found = _Zipped(content) if content.startswith(_ZIP_MAGIC) else _Plain(content)
    package = found.package
    verdict = Verdict(faults=list(found.faults))
    if package.get("format") == RECORD:
        _check_record(package, verdict)
    else:
        verdict.faults += _form(package, allowed=found.members)
    if verdict.kind == "run" and (not verdict.faults or _is_whole(package)):
        _check_chain(package, verdict)
        _check_artifacts(package, found.contents, verdict, complete=found.complete)
    if key is not None and verdict.key_id != key.key_id:
        said = verdict.key_id or "nobody"
        verdict.faults.append(Fault("seal", f"it is signed by {said} and not by key {key.key_id}."))
    if history is not None:
        wrong = history.fault(verdict.key_id, moment_of(verdict.started_at))
        verdict.faults += [] if wrong is None else [Fault("seal", wrong)]
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
        verdict.faults.append(Fault("definition_snapshot", "it is not the one that the run's entry names."))
    head = head_of(entry for _, entry in entries) if _has_hashes(entries) else ""
    wrong = broken_seal(package["seal"], head, len(steps))
    if wrong is not None:
        verdict.faults.append(Fault("seal", wrong))
    verdict.run_id, verdict.status = str(run.get("flow_run_id", "")), str(run.get("status", ""))
    verdict.steps, verdict.started_at = len(steps), run.get("started_at")
    verdict.key_id = str(package["seal"].get("key_id", ""))


def _has_hashes(entries: list[tuple[str, Mapping[str, Any]]]) -> bool:
    chains = [entry.get("chain") for _, entry in entries]
    return all(isinstance(chain, dict) and isinstance(chain.get("hash"), str) for chain in chains)


def _check_artifacts(
    package: Mapping[str, Any], contents: Mapping[str, bytes], verdict: Verdict, *, complete: bool
) -> None:
    listed = artifacts_of(package)
    for name, one in named_artifacts(package):
        if one.get("removed"):
            verdict.notes.append(f"{name}: artifact {one.get('id')} had been removed when this was exported.")
    absent = 0
    for sha256, about in listed.items():
        content = contents.get(sha256)
        if content is not None:
            verdict.artifacts_checked += 1
            verdict.faults += _content_faults(about, content)
        elif complete:
            verdict.faults.append(Fault(f"artifact {about.get('id')}", "its content is not in the file."))
        else:
            absent += 1
    if absent:
        named = "1 artifact is" if absent == 1 else f"{absent} artifacts are"
        verdict.notes.append(f"{named} named by SHA-256; the contents are not in this file.")
    for sha256 in sorted(contents.keys() - listed.keys()):
        verdict.faults.append(Fault("file", f"it holds a content {sha256[:64]} that no step names."))


def _content_faults(about: Mapping[str, Any], content: bytes) -> Iterator[Fault]:
    where = f"artifact {about.get('id')}"
    if sha256_of(content) != about["sha256"]:
        yield Fault(where, "its content was changed: it has another SHA-256.")
    elif len(content) != about.get("size_bytes"):
        yield Fault(where, f"its content has {len(content)} bytes.")


def _form(package: Mapping[str, Any], *, allowed: frozenset[str]) -> Iterator[Fault]:
    if package.get("format") != FORMAT:
        yield Fault("file", f"its format is {str(package.get('format'))[:60]!r} and not {FORMAT!r}.")
    for member in sorted(_MEMBERS - package.keys()):
        yield Fault("file", f"'{member}' is missing.")
    for member in sorted(package.keys() - allowed):
        yield Fault("file", f"'{member[:60]}' was added.")
    if not _is_whole(package):
        yield Fault("file", "its parts do not have the shape of evidence.")


def _is_whole(package: Mapping[str, Any]) -> bool:
    steps = package.get("step_results")
    return (
        isinstance(package.get("run"), dict)
        and isinstance(package.get("seal"), dict)
        and isinstance(package.get("definition_snapshot"), dict)
        and isinstance(steps, list)
        and all(isinstance(step, dict) for step in steps)
    )


class _Plain:
    """A JSON document, perhaps with contents inside."""

    members = _MEMBERS | {CONTENTS}

    def __init__(self, content: bytes) -> None:
        self.package, self.faults = _document(content)
        inside = self.package.get(CONTENTS)
        self.complete = isinstance(inside, dict)
        self.contents: dict[str, bytes] = {}
        for sha256, text in (inside if isinstance(inside, dict) else {}).items():
            found = exact_base64(text)
            if found is None:
                self.faults.append(Fault("file", f"content {sha256[:64]} is not base64: it was changed."))
            else:
                self.contents[sha256] = found
        if inside is not None and not self.complete:
            self.faults.append(Fault("file", f"'{CONTENTS}' is not an object."))


class _Zipped:
    """A zip with the document and the contents."""

    members = _MEMBERS
    complete = True

    def __init__(self, content: bytes) -> None:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                files = {one.filename: archive.read(one) for one in archive.infolist() if _is_ours(one)}
                strangers = [one.filename for one in archive.infolist() if not _is_ours(one)]
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, RuntimeError) as error:
            raise NotEvidence("The file is a damaged zip.", remedy="Export the evidence again.") from error
        if DOCUMENT not in files:
            raise NotEvidence(f"The zip has no {DOCUMENT}.", remedy=_EXPORT)
        self.package, self.faults = _document(files.pop(DOCUMENT))
        self.faults += [Fault("file", f"it holds a stranger: {name[:60]!r}.") for name in strangers]
        self.contents = {name.removeprefix(FOLDER): found for name, found in files.items()}
        if not self.faults and as_zip(self.package, self.contents) != content:
            self.faults.append(Fault("file", "the zip was packed anew or changed outside its members."))


def _is_ours(member: zipfile.ZipInfo) -> bool:
    """Stored members only: what is not compressed cannot swell."""
    named = member.filename == DOCUMENT or member.filename.startswith(FOLDER)
    return named and member.compress_type == zipfile.ZIP_STORED and member.file_size <= LONGEST_DOCUMENT


def _document(content: bytes) -> tuple[dict[str, Any], list[Fault]]:
    """The JSON object of a file, and whether its bytes are those that Headgate writes for it."""
    try:
        package = json.loads(content, object_pairs_hook=_without_doubles, parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise NotEvidence("The file is neither a JSON document nor a zip.", remedy=_EXPORT) from error
    except (ValueError, RecursionError) as error:
        raise NotEvidence(f"The file is not a JSON document: {str(error)[:200]}.", remedy=_EXPORT) from error
    if not isinstance(package, dict) or not _MEMBERS & package.keys():
        raise NotEvidence("The file is no evidence of a run or session.", remedy=_EXPORT)
    try:
        same = canonical(package) == content
    except rfc8785.CanonicalizationError as error:
        raise NotEvidence(f"The file holds a value that evidence cannot hold: {str(error)[:200]}") from error
    return package, [] if same else [
        Fault("file", "it is not in canonical form (RFC 8785): it was reformatted, or bytes between values changed.")
    ]


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member stands twice in one object")
    return found


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
