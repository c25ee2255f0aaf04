"""Exports of the audit log: JSON Lines with a signed head, for offline verification, and CSV for reading. Pure.

The first line of JSON Lines is the head: the range of entries, and its signature. Each further line is an entry.
Members are in alphabetical order without spaces, so that each line has one form.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from headgate.features.audit.chain import MEMBERS
from headgate.features.audit.walk import StoredEntry, Verdict
from headgate.foundation import csv_lines
from headgate.foundation.errors import Invalid
from headgate.foundation.key_history import KeyHistory, moment_of
from headgate.foundation.signing import EvidenceKey, Signer, broken_signature

FORMAT = "headgate-audit/1"
COLUMNS = ("seq", *MEMBERS, "content_digest", "hash")
"""Columns of a CSV file."""
LONGEST_LINE = 256 * 1024
_PLACE = frozenset({"seq", "content_digest", "hash"})


class NotAuditLog(Invalid):
    """The file is not an export of an audit log."""

    code = "not_audit_log"
    title = "Not an export of an audit log"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an export: a part of a chain without gaps."""

    tenant_id: str
    first: int
    last: int
    """`first` less one when the export is empty."""
    previous: str
    """The hash of the entry before `first`."""
    hash: str
    """The hash of entry `last`."""
    exported_at: str


def head_line(signer: Signer, head: Head) -> bytes:
    """Return the signed first line."""
    return _line(signer.sign({"format": FORMAT, **asdict(head)}))


def entry_line(entry: StoredEntry) -> bytes:
    """Return an entry's line."""
    return _line(_members(entry))


def csv_head() -> bytes:
    """Return the header line of a CSV file."""
    return csv_lines.csv_line(COLUMNS)


def csv_line(entry: StoredEntry) -> bytes:
    """Return an entry's line. Text that a spreadsheet would read as a formula gets a leading apostrophe."""
    members = _members(entry)
    return csv_lines.csv_line(members.get(column) for column in COLUMNS)


def verify_export(lines: Iterable[bytes], key: EvidenceKey | None = None, history: KeyHistory | None = None) -> Verdict:
    """Verify an export. Raises `NotAuditLog` when the file is not one.

    Args:
        lines: The lines of the file, with line breaks.
        key: The required signing key. Without a key and a history, any key is accepted.
        history: Signing keys, one of which must have signed the export while it was valid.
    """
    rest = iter(lines)
    signed = _read(next(rest, b""))
    head = _head_of(signed)
    verdict = Verdict(seq=head.first - 1, hash=head.previous, key_id=str(signed.get("key_id", "")))
    fault = broken_signature(signed, {"format": FORMAT, **asdict(head)})
    if fault is not None:
        verdict.add_fault("head", fault)
    if key is not None and verdict.key_id != key.key_id:
        verdict.add_fault("head", f"it is signed by {verdict.key_id or 'nobody'}, not by key {key.key_id}.")
    fault = None if history is None else history.fault(verdict.key_id, moment_of(head.exported_at))
    if fault is not None:
        verdict.add_fault("head", fault)
    for number, line in enumerate(rest, start=2):
        _pass_line(verdict, head, line, number)
    verdict.verify_end(head.last, head.hash)
    if head.first > 1:
        verdict.notes.append(f"It starts with entry {head.first}: earlier entries are not in this file.")
    return verdict


def _pass_line(verdict: Verdict, head: Head, line: bytes, number: int) -> None:
    members = _read(line)
    if not members or _line(members) != line:
        verdict.add_fault(f"line {number}", "it is not in the form in which it was written.")
        return
    content = {name: value for name, value in members.items() if name not in _PLACE}
    if content.get("tenant_id") != head.tenant_id:
        verdict.add_fault(f"line {number}", "it belongs to another tenant than the header.")
    verdict.verify_entry(StoredEntry(members.get("seq"), content, members.get("content_digest"), members.get("hash")))


def _head_of(signed: Mapping[str, Any]) -> Head:
    texts = ("tenant_id", "previous", "hash", "exported_at")
    is_valid = signed.get("format") == FORMAT and all(isinstance(signed.get(name), str) for name in texts)
    if not is_valid or not all(type(signed.get(name)) is int for name in ("first", "last")):
        raise NotAuditLog(
            "This file is not an export of an audit log.",
            remedy="Create one as JSON Lines with `headgate audit export`.",
        )
    return Head(**{name: signed[name] for name in (*texts, "first", "last")})


def _read(line: bytes) -> dict[str, Any]:
    """Return a line's members; None when it is not a JSON object, or too long for an export."""
    if len(line) > LONGEST_LINE:
        return {}
    try:
        members = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return members if isinstance(members, dict) else {}


def _members(entry: StoredEntry) -> dict[str, Any]:
    position = {"seq": entry.seq, "content_digest": entry.content_digest, "hash": entry.hash}
    return {**(entry.content or {}), **position}


def _line(members: Mapping[str, Any]) -> bytes:
    return orjson.dumps(members, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE, default=str)
