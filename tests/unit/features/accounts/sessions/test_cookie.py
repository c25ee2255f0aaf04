import pytest
from fastapi import Request, Response

from headgate.features.accounts.sessions.cookie import drop_cookie, put_cookie, session_token
from headgate.foundation.settings import ServerSettings


def request(scheme: str, cookie: str = "", **more: str) -> Request:
    headers = [(b"host", b"headgate.example.org"), (b"cookie", cookie.encode())]
    headers += [(name.replace("_", "-").encode(), value.encode()) for name, value in more.items()]
    return Request({"type": "http", "method": "GET", "scheme": scheme, "path": "/", "headers": headers})


def put(scheme: str, public_url: str = "") -> str:
    response = Response()
    put_cookie(request(scheme), response, ServerSettings(public_url=public_url), "abc", seconds=60)
    return response.headers["set-cookie"]


class TestPutCookie:
    def test_binds_it_to_the_host_over_https(self) -> None:
        assert put("https") == "__Host-headgate=abc; HttpOnly; Max-Age=60; Path=/; SameSite=lax; Secure"

    def test_goes_by_the_address_that_people_open_behind_a_proxy(self) -> None:
        assert put("http", "https://headgate.example.org") == put("https")

    def test_has_a_plain_name_over_plain_http(self) -> None:
        assert put("http") == "headgate=abc; HttpOnly; Max-Age=60; Path=/; SameSite=lax"

    @pytest.mark.parametrize(
        "said", [{"x_forwarded_proto": "https"}, {"origin": "https://headgate.example.org"}], ids=["proxy", "browser"]
    )
    def test_is_strict_behind_a_proxy_that_nobody_told_headgate_of(self, said: dict[str, str]) -> None:
        response = Response()
        put_cookie(request("http", **said), response, ServerSettings(), "abc", seconds=60)
        assert response.headers["set-cookie"] == put("https")


class TestSessionToken:
    @pytest.mark.parametrize(
        ("scheme", "cookie", "found"),
        [
            ("https", "__Host-headgate=abc", "abc"),
            ("https", "headgate=abc", None),
            ("http", "headgate=abc", "abc"),
            ("http", "__Host-headgate=abc", "abc"),
            ("https", "headgate=planted; __Host-headgate=abc", "abc"),
            ("http", "headgate=", None),
            ("http", "", None),
        ],
    )
    def test_is_read_from_the_one_name(self, scheme: str, cookie: str, found: str | None) -> None:
        assert session_token(request(scheme, cookie), ServerSettings()) == found


class TestDropCookie:
    def test_takes_back_what_was_put(self) -> None:
        response = Response()
        drop_cookie(request("https"), response, ServerSettings())
        assert response.headers["set-cookie"].startswith('__Host-headgate=""; ')
        assert "Max-Age=0" in response.headers["set-cookie"]
        assert "Secure" in response.headers["set-cookie"]
