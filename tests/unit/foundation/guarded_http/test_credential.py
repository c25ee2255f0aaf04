"""Hosts of a credential: what is the same server, and what is not."""

import pytest

from headgate.foundation.guarded_http import Credential, HeaderRefused, HostRefused, parse_target
from headgate.foundation.guarded_http.credential import host_of, is_host_of
from headgate.foundation.guarded_http.request import make_request


class TestHosts:
    @pytest.mark.parametrize(
        ("url", "host", "same"),
        [
            ("https://api.example.org/x", "https://api.example.org", True),
            ("https://API.example.org:443/x", "https://api.example.org", True),
            ("http://api.example.org/x", "https://api.example.org", False),
            ("https://api.example.org:8443/x", "https://api.example.org", False),
            ("https://api.example.org.evil.com/x", "https://api.example.org", False),
            ("https://evil.com/api.example.org", "https://api.example.org", False),
            ("https://a.example.org/", "https://*.example.org", True),
            ("https://a.b.example.org/", "https://*.example.org", True),
            ("https://example.org/", "https://*.example.org", False),
            ("https://evilexample.org/", "https://*.example.org", False),
            ("http://a.example.org/", "https://*.example.org", False),
            ("http://2130706433/", "http://127.0.0.1", True),
        ],
    )
    def test_are_scheme_name_and_port(self, url: str, host: str, same: bool) -> None:
        assert is_host_of(parse_target(url), [host]) is same

    @pytest.mark.parametrize(
        ("text", "host"),
        [
            ("api.example.org", "https://api.example.org"),
            ("http://localhost:8000/path?x=1", "http://localhost:8000"),
            ("https://*.example.org/", "https://*.example.org"),
            ("*.example.org", "https://*.example.org"),
        ],
    )
    def test_are_stored_in_one_form(self, text: str, host: str) -> None:
        assert host_of(text) == host


class TestCredential:
    CREDENTIAL = Credential(
        "the connection 'crm'", ("https://api.example.org",), headers={"X-Key": "k"}, query={"token": "a&b"}
    )

    def test_is_added_to_a_request(self) -> None:
        request = make_request("GET", "https://api.example.org/x?a=1", {"Accept": "text/plain"}, None)
        signed = self.CREDENTIAL.signed(request)
        assert signed.target.path == "/x?a=1&token=a%26b"
        assert dict(signed.headers) == {"Accept": "text/plain", "X-Key": "k"}
        assert self.CREDENTIAL.signed(signed).target.path == signed.target.path

    def test_is_not_sent_elsewhere(self) -> None:
        with pytest.raises(HostRefused, match=r"is not used for https://other\.example\.org"):
            self.CREDENTIAL.signed(make_request("GET", "https://other.example.org/", {}, None))

    @pytest.mark.parametrize(
        ("url", "headers"), [("https://api.example.org/?token=x", {}), ("https://api.example.org/", {"x-key": "mine"})]
    )
    def test_is_not_replaced(self, url: str, headers: dict[str, str]) -> None:
        with pytest.raises(HeaderRefused, match="is set by the connection 'crm'"):
            self.CREDENTIAL.check(make_request("GET", url, headers, None))

    def test_is_not_shown(self) -> None:
        assert "a&b" not in repr(self.CREDENTIAL)
