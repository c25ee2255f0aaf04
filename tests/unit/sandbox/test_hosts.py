import pytest

from headgate.foundation.guarded_http.errors import BadUrl
from headgate.sandbox.hosts import covered, read_pattern


class TestReadPattern:
    @pytest.mark.parametrize(
        ("text", "canonical"),
        [
            ("api.example.org", "api.example.org"),
            (" API.Example.ORG ", "api.example.org"),
            ("api.example.org:443", "api.example.org:443"),
            ("api.example.org:*", "api.example.org:*"),
            ("*.example.org", "*.example.org"),
            ("*.example.org:8443", "*.example.org:8443"),
            ("*", "*"),
            ("*:*", "*:*"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("10.1.2.3:8080", "10.1.2.3:8080"),
            ("0x7f.1", "127.0.0.1"),
            ("[2001:DB8:0::1]:8080", "[2001:db8::1]:8080"),
        ],
    )
    def test_reads_names_and_addresses_with_their_ports(self, text: str, canonical: str) -> None:
        assert str(read_pattern(text)) == canonical
        assert read_pattern(canonical) == read_pattern(text)

    @pytest.mark.parametrize(
        "text",
        [
            *(
                "",
                "a b",
                "https://a.org",
                "a.org/x",
                "a.org:0",
                "a.org:65536",
                "a.org:x",
                "a.*.org",
                "**",
                "*.*",
                "*a.org",
            ),
            *("user@a.org", "a..org", "-a.org", "[::1", "[a.org]", "*.10.0.0.1", "*.", ".", "a.org.", "a\nb", "a%41"),
        ],
    )
    def test_refuses_what_is_no_host(self, text: str) -> None:
        with pytest.raises(BadUrl):
            read_pattern(text)


class TestCovered:
    @pytest.mark.parametrize(
        ("pattern", "host", "port", "expected"),
        [
            ("a.org", "a.org", 443, True),
            ("a.org", "a.org", 80, True),
            ("a.org", "a.org", 25, False),
            ("a.org:25", "a.org", 25, True),
            ("a.org:25", "a.org", 443, False),
            ("a.org:*", "a.org", 22, True),
            ("a.org", "b.a.org", 443, False),
            ("a.org", "aa.org", 443, False),
            ("*.a.org", "b.a.org", 443, True),
            ("*.a.org", "c.b.a.org", 443, True),
            ("*.a.org", "a.org", 443, False),
            ("*.a.org", "ba.org", 443, False),
            ("*.a.org", "b.a.org.evil.com", 443, False),
            ("*", "anything.at.all", 443, True),
            ("*", "anything.at.all", 25, False),
            ("*:*", "10.0.0.1", 25, True),
            ("[::1]:80", "::1", 80, True),
        ],
    )
    def test_goes_by_host_and_port(self, pattern: str, host: str, port: int, expected: bool) -> None:
        assert covered([read_pattern("other.org"), read_pattern(pattern)], host, port) is expected

    def test_is_false_where_nothing_is_listed(self) -> None:
        assert not covered([], "a.org", 443)


class TestIncludes:
    @pytest.mark.parametrize(
        ("rule", "other", "included"),
        [
            ("a.org", "a.org", True),
            ("a.org:443", "a.org", False),
            ("a.org", "a.org:443", True),
            ("a.org:*", "a.org:8080", True),
            ("a.org", "a.org:*", False),
            ("*.a.org", "x.a.org", True),
            ("*.a.org", "a.org", False),
            ("*.a.org", "*.a.org", True),
            ("*.a.org", "*.x.a.org", True),
            ("*.x.a.org", "*.a.org", False),
            ("a.org", "*.a.org", False),
            ("*", "*.a.org", True),
            ("*.a.org", "*", False),
            ("*", "a.org:8080", False),
        ],
    )
    def test_is_for_all_that_the_other_stands_for(self, rule: str, other: str, included: bool) -> None:
        assert read_pattern(rule).includes(read_pattern(other)) is included
