"""The record of something that is no run, as signed evidence: a subject and what happened, entry by entry. Pure.

It has the chain and the seal of a run's evidence, and is checked by the same command.
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
    """The document: `subject` has `kind`, `id`, `status` and `created_at`; entries are in their order."""
    first, *rest = chained(portable(entry) for entry in (subject, *entries))
    return {
        "format": RECORD,
        "subject": first,
        "entries": rest,
        "seal": seal_of(signer, head_of([first, *rest]), len(rest), RECORD),
    }


def record_faults(document: Mapping[str, Any]) -> list[Fault]:
    """What does not hold in a record. Takes what any file may hold."""
    faults = [Fault("file", f"'{name}' is missing.") for name in sorted(_MEMBERS - document.keys())]
    faults += [Fault("file", f"'{name[:60]}' was added.") for name in sorted(document.keys() - _MEMBERS)]
    if not is_record(document):
        return [*faults, Fault("file", "its parts do not have the shape of a record.")]
    subject, entries = document["subject"], document["entries"]
    links = [("subject", subject), *((f"entry {number}", one) for number, one in enumerate(entries, 1))]
    faults += broken_links(links)
    hashes = [one.get(CHAIN) for _, one in links]
    whole = all(isinstance(link, dict) and isinstance(link.get("hash"), str) for link in hashes)
    head = head_of(one for _, one in links) if whole else ""
    wrong = broken_seal(document["seal"], head, len(entries), RECORD)
    return faults if wrong is None else [*faults, Fault("seal", wrong)]


def is_record(document: Mapping[str, Any]) -> bool:
    """Whether a document has the parts of a record."""
    entries = document.get("entries")
    return (
        isinstance(document.get("subject"), dict)
        and isinstance(document.get("seal"), dict)
        and isinstance(entries, list)
        and all(isinstance(entry, dict) for entry in entries)
    )
