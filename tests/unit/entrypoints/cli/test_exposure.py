"""What a server refuses to start with, and what it warns of."""

from typing import Any

import pytest

from headgate.entrypoints.cli.exposure import exposures, refuse_exposure
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import ServerSettings

WIDE = "0.0.0.0"
HTTPS, HTTP = "https://headgate.example.org", "http://headgate.example.org:7411"
SIGN_IN: dict[str, Any] = {"auto_login": False}


def server(**values: Any) -> ServerSettings:
    return ServerSettings(**values)


class TestRefuseOpenDoor:
    @pytest.mark.parametrize(
        "values",
        [
            {},
            {"host": "::1"},
            {"host": "localhost"},
            {"host": WIDE, "insecure": True},
            SIGN_IN,
            {**SIGN_IN, "public_url": HTTP},
            {**SIGN_IN, "host": WIDE, "public_url": HTTPS},
            {**SIGN_IN, "host": WIDE, "public_url": HTTP, "insecure": True},
            {**SIGN_IN, "host": WIDE, "public_url": "http://localhost:7411"},
        ],
    )
    def test_lets_a_closed_one_start(self, values: dict[str, Any]) -> None:
        refuse_exposure(server(**values))

    @pytest.mark.parametrize("host", [WIDE, "::", "192.0.2.7", "headgate.example.org", "127.evil.example"])
    @pytest.mark.parametrize(
        ("values", "remedy"),
        [
            ({}, "--insecure"),
            ({"public_url": HTTPS}, "--insecure"),
            (SIGN_IN, "HEADGATE_SERVER__PUBLIC_URL"),
            ({**SIGN_IN, "insecure": True}, "HEADGATE_SERVER__PUBLIC_URL"),
            ({**SIGN_IN, "public_url": HTTP}, "TLS"),
        ],
    )
    def test_says_what_to_set(self, host: str, values: dict[str, Any], remedy: str) -> None:
        with pytest.raises(Invalid) as refused:
            refuse_exposure(server(host=host, **values))
        assert remedy in refused.value.remedy


class TestExposures:
    def test_are_none_where_nothing_is_open(self) -> None:
        behind = {"public_url": HTTPS, "trusted_proxies": ["127.0.0.1"]}
        for values in ({}, SIGN_IN, {**SIGN_IN, **behind}, {**SIGN_IN, "host": WIDE, **behind}):
            assert exposures(server(**values)) == []

    @pytest.mark.parametrize(
        ("values", "word"),
        [
            ({"host": WIDE, "insecure": True}, "No sign-in"),
            ({**SIGN_IN, "host": WIDE, "public_url": HTTP, "insecure": True}, "unencrypted"),
            ({**SIGN_IN, "public_url": HTTP}, "unencrypted"),
            ({**SIGN_IN, "public_url": HTTPS}, "HEADGATE_SERVER__TRUSTED_PROXIES"),
            ({"cors_origins": ["https://a.example"]}, "https://a.example"),
        ],
    )
    def test_are_named(self, values: dict[str, Any], word: str) -> None:
        (found,) = exposures(server(**values))
        assert word in found
