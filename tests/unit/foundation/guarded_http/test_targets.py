import socket
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.guarded_http import BadUrl
from headgate.foundation.guarded_http.targets import parse_target, shown_url

LOOPBACK_FORMS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0X7F.0x0.0x0.0x1",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "00000177.0.0.01",
    "127.0x0.01",
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
    "127\u30020\uff0e0\uff611",
    "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460",
]
MALFORMED = [
    "",
    "   ",
    "example.org",
    "//example.org/",
    "http:/example.org",
    "http:example.org",
    "http:///path",
    "http://",
    "http://?query",
    "http://:80/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org:70/_x",
    "javascript:alert(1)",
    "data:text/plain,hello",
    "dict://127.0.0.1:11211/stat",
    "ws://example.org/",
    "http://user@example.org/",
    "http://user:word@example.org/",
    "http://@example.org/",
    "http://example.org@127.0.0.1/",
    "http://example.org:80@127.0.0.1/",
    "http://127.0.0.1\\@example.org/",
    "http://example.org\\.evil.example/",
    "http://example.org%2f@127.0.0.1/",
    "http://127.0.0.1%00.example.org/",
    "http://127.0.0.%31/",
    "http://exa mple.org/",
    "http://exa\tmple.org/",
    "http://exa\nmple.org/",
    "http://example.org\r\nHost: internal/",
    "http://example.org\u2028/",
    "http://exa\u200bmple.org/",
    "http://example.org./",
    "http://127.0.0.1./",
    "http://localhost./",
    "http://.example.org/",
    "http://example..org/",
    "http://-example.org/",
    "http://example-.org/",
    "http://exam!ple.org/",
    "http://" + "a" * 64 + ".org/",
    "http://" + "a." * 127 + "org/",
    "http://example.org:0/",
    "http://example.org:65536/",
    "http://example.org:99999/",
    "http://example.org:123456/",
    "http://example.org:-1/",
    "http://example.org:80:80/",
    "http://example.org:eighty/",
    "http://example.org:\uff18\uff10/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]80/",
    "http://[::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[v1.fe80]/",
    "http://[]/",
    "http://[127.0.0.1]/",
    "http://[1:2:3:4:5:6:7:8:9]/",
    "http://256.0.0.1/",
    "http://1.2.3.4.5/",
    "http://1.2.3.256/",
    "http://1.2.65536/",
    "http://1.16777216/",
    "http://4294967296/",
    "http://0x100000000/",
    "http://1.2.3.08/",
    "http://09.0.0.1/",
    "http://0x7g.0.0.1/",
    "http://example.0x1/",
    "http://foo.123/",
    "http://1..2/",
    "http://" + "0" * 40 + "1/",
    "http://\ud800.example/",
    "http://example.org/\ud800",
    "http://xn--/",
    "https://example.org/" + "a" * 9000,
]


class TestParseTarget:
    def test_reads_the_parts_of_an_address(self) -> None:
        target = parse_target("HTTPS://Example.ORG:8443/a/b?c=d#e")
        assert (target.scheme, target.host, target.port, target.path) == ("https", "example.org", 8443, "/a/b?c=d")
        assert target.url == "https://example.org:8443/a/b?c=d"

    def test_fills_in_port_and_path(self) -> None:
        target = parse_target("  http://example.org  ")
        assert (target.port, target.path, target.authority) == (80, "/", "example.org")

    def test_takes_an_empty_port_as_none(self) -> None:
        assert parse_target("https://example.org:/").port == 443

    def test_writes_ipv6_in_brackets(self) -> None:
        target = parse_target("http://[2001:DB8:0:0::1]:81/")
        assert (target.host, target.authority) == ("2001:db8::1", "[2001:db8::1]:81")

    def test_encodes_names_in_other_scripts(self) -> None:
        assert parse_target("http://r\u00e4ksm\u00f6rg\u00e5s.example/").host == "xn--rksmrgs-5wao1o.example"

    def test_escapes_what_may_not_stand_in_a_path_and_keeps_what_is_escaped(self) -> None:
        target = parse_target("http://example.org/a b/\u00e5%20{x}?q=[\u00f6 ]&r=%41")
        assert target.path == "/a%20b/%C3%A5%20%7Bx%7D?q=[%C3%B6%20]&r=%41"

    @pytest.mark.parametrize("line_break", ["\r\n", "\n", "\x00"])
    def test_escapes_control_characters_of_a_path(self, line_break: str) -> None:
        assert not set(parse_target(f"http://example.org/a{line_break}b").path) & {"\r", "\n", "\x00"}

    @pytest.mark.parametrize("form", LOOPBACK_FORMS)
    def test_reads_every_notation_of_an_ipv4_address_as_a_resolver_does(self, form: str) -> None:
        assert parse_target(f"http://{form}/").host == "127.0.0.1"

    @given(address=st.ip_addresses(v=4), data=st.data())
    def test_agrees_with_the_c_library_on_every_notation(self, address: IPv4Address, data: st.DataObject) -> None:
        octets = address.packed
        count = data.draw(st.integers(1, 4))
        numbers = [*octets[: count - 1], int.from_bytes(octets[count - 1 :], "big")]
        text = ".".join(data.draw(st.sampled_from([f"{n}", f"0{n:o}", f"0x{n:x}", f"0x{n:08X}"])) for n in numbers)
        assert parse_target(f"http://{text}/").host == str(IPv4Address(socket.inet_aton(text))) == str(address)

    @pytest.mark.parametrize("url", MALFORMED)
    def test_refuses_what_is_no_plain_web_address(self, url: str) -> None:
        with pytest.raises(BadUrl):
            parse_target(url)

    @given(st.text(max_size=60))
    def test_never_fails_in_another_way(self, text: str) -> None:
        for url in (text, f"http://{text}/", f"http://example.org/{text}"):
            try:
                target = parse_target(url)
            except BadUrl:
                continue
            assert parse_target(target.url) == target

    def test_echoes_no_credentials(self) -> None:
        with pytest.raises(BadUrl) as caught:
            parse_target("https://anna:hunter22@example.org/?key=abcdef")
        assert "hunter22" not in str(caught.value)
        assert "abcdef" not in str(caught.value)


class TestTarget:
    @pytest.mark.parametrize(
        ("here", "there", "keeps"),
        [
            ("http://a.example/x", "http://a.example/y", True),
            ("http://a.example/", "https://a.example/", True),
            ("https://a.example/", "http://a.example/", False),
            ("http://a.example/", "http://b.example/", False),
            ("http://a.example/", "http://a.example:8080/", False),
            ("http://a.example:8080/", "https://a.example/", False),
            ("http://a.example/", "http://sub.a.example/", False),
        ],
    )
    def test_keeps_credentials_for_the_same_server_only(self, here: str, there: str, keeps: bool) -> None:
        assert parse_target(here).keeps_credentials(parse_target(there)) is keeps

    def test_follows_a_relative_location(self) -> None:
        assert parse_target("http://a.example/x/y?z").follow("../w?v=1").url == "http://a.example/w?v=1"

    def test_reads_a_location_as_strictly(self) -> None:
        with pytest.raises(BadUrl):
            parse_target("http://a.example/").follow("//user@b.example/")


class TestShownUrl:
    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("https://hooks.example.org/services/T0/B0/s3cret", "https://hooks.example.org/..."),
            ("https://hooks.example.org/?token=s3cret", "https://hooks.example.org/..."),
            ("HTTPS://Hooks.Example.org:8443", "https://hooks.example.org:8443/"),
        ],
    )
    def test_names_the_server_and_nothing_that_may_be_a_secret(self, url: str, shown: str) -> None:
        assert shown_url(url) == shown

    def test_refuses_what_is_no_address(self) -> None:
        with pytest.raises(BadUrl):
            shown_url("https://user:s3cret@example.org/")
