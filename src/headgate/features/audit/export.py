"""The audit log as a file: JSON Lines under a signed head, which anybody can check offline, and CSV for people. Pure.

The first line of JSON Lines is the head: which entries follow, and the signature over that. Each line after it is an
entry. Lines have their members in alphabetical order and no spaces, so that each has one form.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from headgate.features.audit.chain import MEMBERS
from headgate.features.audit.walk import Found, Verdict
from headgate.foundation.errors import Invalid
from headgate.foundation.key_history import KeyHistory, moment_of
from headgate.foundation.signing import EvidenceKey, Signer, broken_signature

FORMAT = "headgate-audit/1"
COLUMNS = ("seq", *MEMBERS, "content_digest", "hash")
"""Of a CSV file."""
LONGEST_LINE = 256 * 1024
_PLACE = frozenset({"seq", "content_digest", "hash"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class NotAuditLog(Invalid):
    """The file is no export of an audit log."""

    code = "not_audit_log"
    title = "Not an export of an audit log"


@dataclass(frozen=True, slots=True)
class Head:
    """What stands over an export: a part of a chain without gaps."""

    tenant_id: str
    first: int
    last: int
    """`first` less one when there is nothing in it."""
    previous: str
    """The hash of the entry before `first`."""
    hash: str
    """The hash of entry `last`."""
    exported_at: str


def head_line(signer: Signer, head: Head) -> bytes:
    """The first line, signed."""
    return _line(signer.sign({"format": FORMAT, **asdict(head)}))


def entry_line(found: Found) -> bytes:
    """An entry's line."""
    return _line(_members(found))


def csv_head() -> bytes:
    """The first line of a CSV file."""
    return _row(COLUMNS)


def csv_line(found: Found) -> bytes:
    """An entry's line. What a spreadsheet would take for a formula begins with an apostrophe."""
    members = _members(found)
    return _row([_defused(members.get(column)) for column in COLUMNS])


def verify_export(lines: Iterable[bytes], key: EvidenceKey | None = None, history: KeyHistory | None = None) -> Verdict:
    """Check an export. Raises `NotAuditLog` when the file is something else.

    Args:
        lines: The lines of the file, with their ends.
        key: The key that must have signed it. Without one, and without a history, whoever holds any key may have.
        history: The keys of which one must have signed it, while it was valid.
    """
    rest = iter(lines)
    signed = _read(next(rest, b""))
    head = _head_of(signed)
    verdict = Verdict(seq=head.first - 1, hash=head.previous, key_id=str(signed.get("key_id", "")))
    wrong = broken_signature(signed, {"format": FORMAT, **asdict(head)})
    if wrong is not None:
        verdict.blame("head", wrong)
    if key is not None and verdict.key_id != key.key_id:
        verdict.blame("head", f"it is signed by {verdict.key_id or 'nobody'} and not by key {key.key_id}.")
    wrong = None if history is None else history.fault(verdict.key_id, moment_of(head.exported_at))
    if wrong is not None:
        verdict.blame("head", wrong)
    for number, line in enumerate(rest, start=2):
        _pass_line(verdict, head, line, number)
    verdict.end_at(head.last, head.hash)
    if head.first > 1:
        verdict.notes.append(f"It begins with entry {head.first}: what is before that is not in this file.")
    return verdict


def _pass_line(verdict: Verdict, head: Head, line: bytes, number: int) -> None:
    members = _read(line)
    if not members or _line(members) != line:
        verdict.blame(f"line {number}", "it is not an entry as it was written.")
        return
    content = {name: value for name, value in members.items() if name not in _PLACE}
    if content.get("tenant_id") != head.tenant_id:
        verdict.blame(f"line {number}", "it is of another tenant than the head.")
    verdict.pass_by(Found(members.get("seq"), content, members.get("content_digest"), members.get("hash")))


def _head_of(signed: Mapping[str, Any]) -> Head:
    texts = ("tenant_id", "previous", "hash", "exported_at")
    good = signed.get("format") == FORMAT and all(isinstance(signed.get(name), str) for name in texts)
    if not good or not all(type(signed.get(name)) is int for name in ("first", "last")):
        raise NotAuditLog(
            "This file is no export of an audit log.", remedy="Make one as JSON Lines with `headgate audit export`."
        )
    return Head(**{name: signed[name] for name in (*texts, "first", "last")})


def _read(line: bytes) -> dict[str, Any]:
    """A line's members; nothing for what is no JSON object, or too long to be one of ours."""
    if len(line) > LONGEST_LINE:
        return {}
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _members(found: Found) -> dict[str, Any]:
    place = {"seq": found.seq, "content_digest": found.content_digest, "hash": found.hash}
    return {**(found.content or {}), **place}


def _line(members: Mapping[str, Any]) -> bytes:
    return orjson.dumps(members, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE, default=str)


def _row(cells: Sequence[object]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue().encode()


def _defused(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
