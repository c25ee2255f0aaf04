"""Signed evidence of things other than runs: a subject and its events, entry by entry. Pure.

It has the same chain and seal as a run's evidence, and the same command verifies it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from headgate.features.runs.evidence.chain import CHAIN, Fault, broken_links, chained, head_of
from headgate.features.runs.evidence.seal import broken_seal, seal_of
from headgate.foundation.canonical import portable
from headgate.foundation.signing import Signer

RECORD = "headgate-record/1"
_MEMBERS = frozenset({"format", "subject", "entries", "seal"})


def make_record(signer: Signer, subject: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Build the document. `subject` has `kind`, `id`, `status` and `created_at`; entries are in order."""
    first, *entries_after = chained(portable(entry) for entry in (subject, *entries))
    return {
        "format": RECORD,
        "subject": first,
        "entries": entries_after,
        "seal": seal_of(signer, head_of([first, *entries_after]), len(entries_after), RECORD),
    }


def record_faults(document: Mapping[str, Any]) -> list[Fault]:
    """Return the faults of a record. Accepts arbitrary JSON."""
    faults = [Fault("file", f"'{name}' is missing.") for name in sorted(_MEMBERS - document.keys())]
    faults += [Fault("file", f"'{name[:60]}' was added.") for name in sorted(document.keys() - _MEMBERS)]
    if not is_record(document):
        return [*faults, Fault("file", "its parts do not form a valid record.")]
    subject, entries = document["subject"], document["entries"]
    links = [("subject", subject), *((f"entry {number}", entry) for number, entry in enumerate(entries, 1))]
    faults += broken_links(links)
    hashes = [entry.get(CHAIN) for _, entry in links]
    well_formed = all(isinstance(link, dict) and isinstance(link.get("hash"), str) for link in hashes)
    head = head_of(entry for _, entry in links) if well_formed else ""
    seal_fault = broken_seal(document["seal"], head, len(entries), RECORD)
    return faults if seal_fault is None else [*faults, Fault("seal", seal_fault)]


def is_record(document: Mapping[str, Any]) -> bool:
    """Whether a document has the parts of a record."""
    entries = document.get("entries")
    return (
        isinstance(document.get("subject"), dict)
        and isinstance(document.get("seal"), dict)
        and isinstance(entries, list)
        and all(isinstance(entry, dict) for entry in entries)
    )
