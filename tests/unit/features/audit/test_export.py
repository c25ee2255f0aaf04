"""An exported log: verified offline, every change of the file is found; CSV is harmless in a spreadsheet."""

import csv
import io
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.access.principal import LOCAL
from headgate.features.audit.chain import GENESIS, link
from headgate.features.audit.export import (
    COLUMNS,
    Head,
    NotAuditLog,
    csv_head,
    csv_line,
    entry_line,
    head_line,
    verify_export,
)
from headgate.features.audit.recorder import entry_of
from headgate.features.audit.walk import StoredEntry
from headgate.foundation.signing import Signer
from tests.support.properties import cases

SIGNER = Signer(b"s" * 32)


def export(first: int, last: int, signer: Signer = SIGNER) -> list[bytes]:
    """The lines of entries `first` to `last` of a chain."""
    found, previous, before = [], GENESIS, GENESIS
    for seq in range(1, last + 1):
        entry = replace(entry_of(LOCAL, "flow.renamed", id=f"f{seq}", payload={"n": seq}), at=seq)
        if seq == first:
            before = previous
        previous = link(previous, seq, entry.content_digest)
        found.append(StoredEntry(seq, entry.content, entry.content_digest, previous))
    head = Head(LOCAL.tenant_id, first, last, before, previous, "2026-11-21T00:00:00Z")
    return [head_line(signer, head), *(entry_line(one) for one in found[first - 1 :])]


LINES = export(1, 4)
CONTENT = b"".join(LINES)


def lines_of(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


class TestVerifyExport:
    @pytest.mark.parametrize(("first", "last"), [(1, 4), (3, 4), (1, 1), (1, 0)])
    def test_finds_a_file_good(self, first: int, last: int) -> None:
        verdict = verify_export(export(first, last), SIGNER.key)
        assert (verdict.faults, verdict.entries, verdict.seq) == ([], last - first + 1, last)
        assert len(verdict.notes) == (first > 1)

    @cases(400)
    @given(st.integers(0, len(CONTENT) - 1), st.integers(0, 255))
    def test_finds_any_changed_byte(self, place: int, byte: int) -> None:
        changed = CONTENT[:place] + bytes([byte]) + CONTENT[place + 1 :]
        if changed.splitlines() == CONTENT.splitlines():  # other ends of lines change no entry
            return
        try:
            verdict = verify_export(lines_of(changed), SIGNER.key)
        except NotAuditLog:
            return
        assert not verdict.good

    @given(st.data())
    def test_finds_lines_removed_doubled_or_moved(self, data: Any) -> None:
        kept = data.draw(st.lists(st.sampled_from(LINES[1:]), max_size=6))
        assert verify_export([LINES[0], *kept]).good == (kept == LINES[1:])

    def test_finds_a_cut_file(self) -> None:
        verdict = verify_export(LINES[:-2])
        assert [str(fault) for fault in verdict.faults] == ["entries 3 to 4: they are missing."]

    def test_finds_a_log_that_somebody_else_signed(self) -> None:
        theirs = export(1, 4, Signer(b"t" * 32))
        assert verify_export(theirs).good
        assert [fault.where for fault in verify_export(theirs, SIGNER.key).faults] == ["head"]

    @pytest.mark.parametrize("content", [b"", b"{}\n", b"[]\n", b"\xff\n", b'{"format":"headgate-audit/1"}', LINES[1]])
    def test_refuses_what_is_no_export(self, content: bytes) -> None:
        with pytest.raises(NotAuditLog):
            verify_export(lines_of(content))


class TestCsv:
    @given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
    def test_has_no_cell_that_is_a_formula(self, name: str) -> None:
        content = {**entry_of(LOCAL, "flow.renamed", id="f").content, "resource_name": name}
        text = (csv_head() + csv_line(StoredEntry(1, content, "d", "h"))).decode()
        head, row = csv.reader(io.StringIO(text, newline=""))
        assert tuple(head) == COLUMNS
        cell = row[COLUMNS.index("resource_name")]
        assert cell in {name, f"'{name}"}
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))

    def test_keeps_the_payload_as_it_is(self) -> None:
        entry = entry_of(LOCAL, "flow.renamed", id="f", payload={"text": "a, b\nc"})
        (row,) = csv.reader(io.StringIO(csv_line(StoredEntry(1, entry.content, "d", "h")).decode(), newline=""))
        assert orjson.loads(row[COLUMNS.index("payload")]) == {"text": "a, b\nc"}
