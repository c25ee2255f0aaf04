"""Settings of single sign-on: wrong ones stop Headgate at its start."""

from typing import Any

import pytest
from pydantic import ValidationError

from headgate.foundation.settings import SingleSignOnSettings

GOOD: dict[str, Any] = {"issuer": "https://login.example.org/realms/town", "client_id": "headgate"}


class TestSingleSignOnSettings:
    def test_are_off_by_default(self) -> None:
        assert SingleSignOnSettings().issuer == ""

    @pytest.mark.parametrize(
        "issuer", ["http://127.0.0.1:8080", "http://localhost/x/", "http://[::1]:1", "https://10.0.0.1"]
    )
    def test_take_an_issuer_on_this_machine_or_in_the_house(self, issuer: str) -> None:
        assert SingleSignOnSettings(**GOOD | {"issuer": issuer}).issuer == issuer

    @pytest.mark.parametrize(
        "changed",
        [
            {"issuer": "http://login.example.org"},
            {"issuer": "http://127.0.0.1.example.org"},
            {"issuer": "https://login.example.org?x=1"},
            {"issuer": "https://login.example.org#x"},
            {"issuer": "https://a:b@login.example.org"},
            {"issuer": "login.example.org"},
            {"issuer": "https://"},
            {"client_id": ""},
            {"admin_claim": "groups"},
            {"admin_value": "boss"},
            {"scopes": "email"},
        ],
    )
    def test_refuse_what_cannot_work(self, changed: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            SingleSignOnSettings(**GOOD | changed)

    def test_take_domains_as_people_write_them(self) -> None:
        assert SingleSignOnSettings(allowed_domains=[" @Example.ORG", "b.org"]).allowed_domains == [
            "example.org",
            "b.org",
        ]
