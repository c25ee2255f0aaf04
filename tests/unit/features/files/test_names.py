import re
from email.message import Message
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.files.names import MAX_NAME_BYTES, attachment, media_type_of, safe_name

PNG = b"\x89PNG\r\n\x1a\n\x00\x00"
NAMES = st.text(max_size=300) | st.text('./\\:*?"<>|%\x00\n con.txtåä', max_size=40)


class TestSafeName:
    @pytest.mark.parametrize(
        ("name", "safe"),
        [
            ("report.pdf", "report.pdf"),
            ("Räksmörgås 1.txt", "Räksmörgås 1.txt"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\windows\\system.ini", "system.ini"),
            ("C:\\temp\\a.txt", "a.txt"),
            ("/absolute", "absolute"),
            ("", "file"),
            ("..", "file"),
            ("///", "file"),
            (" . ", "file"),
            (".env", "env"),
            ("a.txt. .", "a.txt"),
            ("CON", "_CON"),
            ("nul.txt", "_nul.txt"),
            ("com1.csv", "_com1.csv"),
            ("console.txt", "console.txt"),
            ("a<b>:c|d?*.txt", "a_b__c_d__.txt"),
            ("a\r\nSet-Cookie: x", "a__Set-Cookie_ x"),
            ("invoice\u202egpj.exe", "invoice_gpj.exe"),
            ("e\u0301.txt", "é.txt"),
            ("x\ud800.txt", "x_.txt"),
        ],
    )
    def test_makes_a_name_that_every_system_takes(self, name: str, safe: str) -> None:
        assert safe_name(name) == safe

    def test_cuts_a_long_name_and_keeps_its_ending(self) -> None:
        found = safe_name("å" * 300 + ".docx")
        assert found.endswith("å.docx")
        assert len(found.encode()) <= MAX_NAME_BYTES

    @given(NAMES)
    def test_never_gives_a_path_or_a_control_character(self, name: str) -> None:
        found = safe_name(name)
        assert found not in {"", ".", ".."}
        assert not re.search(r'[/\\:*?"<>|\x00-\x1f\x7f]', found)
        assert len(found.encode()) <= MAX_NAME_BYTES
        assert found == found.strip(" .")

    @given(NAMES)
    def test_leaves_a_safe_name_as_it_is(self, name: str) -> None:
        assert safe_name(safe_name(name)) == safe_name(name)


class TestMediaTypeOf:
    @pytest.mark.parametrize(
        ("name", "head", "given_type", "expected"),
        [
            ("a.txt", PNG, "text/plain", "image/png"),
            ("a", b"%PDF-1.7", "", "application/pdf"),
            ("a.wav", b"RIFF\x00\x00\x00\x00WAVEfmt ", "", "audio/wav"),
            ("a.webp", b"RIFF\x00\x00\x00\x00WEBPVP8 ", "", "image/webp"),
            ("a.m4a", b"\x00\x00\x00\x20ftypM4A ", "", "audio/mp4"),
            ("a.csv", b"x,y\n", "application/vnd.ms-excel", "text/csv"),
            ("a.md", b"# x", "", "text/markdown"),
            ("a.json", b"{}", "", "application/json"),
            ("a.html", b"<p>", "", "text/html"),
            ("a.docx", b"PK\x03\x04", "", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("A.YAML", b"a: b", "", "application/yaml"),
            ("unknown.zzz", b"\x00\x01", "image/x-own", "image/x-own"),
            ("unknown", "plain åäö".encode(), "", "text/plain"),
            ("unknown", "åäö".encode() * 100 + b"\xc3", "", "text/plain"),
            ("unknown", b"\x00\x01\x02", "", "application/octet-stream"),
            ("unknown", b"\xff\xfe\x01 abc", "", "application/octet-stream"),
            ("unknown", b"", "", "application/octet-stream"),
            ("unknown", b"abc", "application/octet-stream", "text/plain"),
            ("unknown", b"\x00", "text/html\r\nX: y", "application/octet-stream"),
            ("unknown", b"\x00", "nonsense", "application/octet-stream"),
            ("unknown", b"\x00", "Text/X-Own; charset=utf-8", "text/x-own"),
        ],
    )
    def test_trusts_the_bytes_then_the_name_then_the_sender(
        self, name: str, head: bytes, given_type: str, expected: str
    ) -> None:
        assert media_type_of(name, head, given_type) == expected

    @given(NAMES, st.binary(max_size=40), st.text(max_size=40))
    def test_is_always_a_media_type(self, name: str, head: bytes, sent: str) -> None:
        assert re.fullmatch(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+", media_type_of(name, head, sent))


class TestAttachment:
    def test_writes_both_forms(self) -> None:
        assert attachment("Å 1.txt") == "attachment; filename=\"A 1.txt\"; filename*=UTF-8''%C3%85%201.txt"

    @given(NAMES)
    def test_is_a_header_of_one_line_that_reads_back(self, name: str) -> None:
        found = attachment(name)
        assert re.fullmatch(r"[\x20-\x7e]+", found)
        header = Message()
        header["Content-Disposition"] = found
        assert header.get_content_disposition() == "attachment"
        plain, _, encoded = found.partition("; filename*=UTF-8''")
        assert unquote(encoded) == safe_name(name)
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9 ._()+-]+"', plain)
