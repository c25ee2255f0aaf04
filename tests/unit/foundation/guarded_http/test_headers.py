import pytest

from headgate.foundation.guarded_http import HeaderRefused
from headgate.foundation.guarded_http.headers import MAX_HEADERS, check_headers


class TestCheckHeaders:
    def test_keeps_order_and_case_and_strips_values(self) -> None:
        assert check_headers({"X-B": " b ", "x-a": "a"}) == (("X-B", "b"), ("x-a", "a"))

    @pytest.mark.parametrize(
        "name",
        ["Host", "host", "Connection", "Content-Length", "Transfer-Encoding", "TRANSFER-ENCODING", "Keep-Alive", "TE",
         "Trailer", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "HTTP2-Settings", "Expect"],
    )  # fmt: skip
    def test_refuses_headers_of_the_connection(self, name: str) -> None:
        with pytest.raises(HeaderRefused, match=name):
            check_headers({name: "x"})

    @pytest.mark.parametrize("name", ["", " Host", "Host ", "X:Y", "X\r\nHost", "X\x00", "Häder", "X" * 300])
    def test_refuses_names_that_are_none(self, name: str) -> None:
        with pytest.raises(HeaderRefused, match="not a valid header name"):
            check_headers({name: "x"})

    @pytest.mark.parametrize("value", ["a\r\nHost: internal", "a\nb", "a\rb", "a\x00b", "a\x7fb", "\ud800"])
    def test_refuses_values_that_would_end_the_header(self, value: str) -> None:
        with pytest.raises(HeaderRefused) as caught:
            check_headers({"X-Key": value})
        assert "X-Key" in caught.value.detail
        assert value not in str(caught.value)

    def test_refuses_too_many(self) -> None:
        with pytest.raises(HeaderRefused):
            check_headers({f"x-{number}": "" for number in range(MAX_HEADERS + 1)})

    def test_refuses_too_large_ones(self) -> None:
        with pytest.raises(HeaderRefused, match="larger"):
            check_headers({"x": "a" * 40_000})
