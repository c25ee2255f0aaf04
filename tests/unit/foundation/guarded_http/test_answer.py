import pytest

from headgate.foundation.guarded_http import HttpAnswer


def answered(content: bytes, content_type: str) -> HttpAnswer:
    return HttpAnswer(200, {"content-type": content_type}, content, content_type, "http://example.org/")


class TestHttpAnswer:
    def test_reads_the_charset_that_is_named(self) -> None:
        assert answered("å".encode("latin-1"), 'text/plain; x=y; charset="ISO-8859-1"').text == "å"

    @pytest.mark.parametrize(
        "charset", ["", "utf-8", "no-such-charset", "base64", "hex", "undefined", "a\x00b", "idna", "zlib"]
    )
    def test_reads_utf_8_for_a_charset_that_is_none(self, charset: str) -> None:
        assert answered("åäö".encode(), f"text/plain; charset={charset}").text == "åäö"

    def test_replaces_bytes_that_are_no_text(self) -> None:
        assert answered(b"a\xffb", "text/plain").text == "a\ufffdb"
