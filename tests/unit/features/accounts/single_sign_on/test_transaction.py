"""What a browser holds while it is away, and where it may be sent afterwards."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from headgate.features.accounts.single_sign_on.errors import SignInLost
from headgate.features.accounts.single_sign_on.transaction import (
    HOME,
    LIFETIME_SECONDS,
    begin_transaction,
    safe_path,
    seal,
    unseal,
)
from headgate.foundation.crypto import SecretBox
from tests.support.databases import make_settings


@pytest.fixture
def box(tmp_path: Path) -> SecretBox:
    return SecretBox(make_settings(tmp_path))


class TestSealed:
    def test_comes_back_whole(self, box: SecretBox) -> None:
        made = begin_transaction("https://issuer", "https://here/callback", "/flows?x=1")
        assert unseal(box, seal(box, made)) == made

    def test_tells_nothing(self, box: SecretBox) -> None:
        made = begin_transaction("https://issuer", "https://here/callback", "/flows")
        assert not any(secret in seal(box, made) for secret in (made.state, made.nonce, made.verifier))

    def test_fits_into_a_cookie(self, box: SecretBox) -> None:
        made = begin_transaction("https://" + "i" * 492, "https://" + "h" * 300, "/" + "n" * 999)
        assert len(seal(box, made)) < 4000

    @pytest.mark.parametrize("sealed", [None, "", "x", "é", "gAAAA" * 2000])
    def test_refuses_what_is_none(self, box: SecretBox, sealed: str | None) -> None:
        with pytest.raises(SignInLost):
            unseal(box, sealed)

    def test_refuses_one_that_was_changed(self, box: SecretBox) -> None:
        sealed = seal(box, begin_transaction("https://issuer", "https://here/callback", "/"))
        with pytest.raises(SignInLost):
            unseal(box, sealed[:-4] + "AAA=")

    def test_refuses_another_secret_of_this_installation(self, box: SecretBox) -> None:
        with pytest.raises(SignInLost):
            unseal(box, box.encrypt(SecretStr('{"purpose":"variable"}')).decode())

    def test_refuses_one_of_another_installation(self, box: SecretBox, tmp_path: Path) -> None:
        other = SecretBox(make_settings(tmp_path / "other"))
        with pytest.raises(SignInLost):
            unseal(box, seal(other, begin_transaction("https://issuer", "https://here/callback", "/")))

    @pytest.mark.parametrize("seconds", [LIFETIME_SECONDS + 1, -60])
    def test_refuses_one_of_another_time(self, box: SecretBox, monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
        made = begin_transaction("https://issuer", "https://here/callback", "/")
        monkeypatch.setattr("time.time", lambda: made.started_at + seconds)
        with pytest.raises(SignInLost):
            unseal(box, seal(box, made))


class TestSafePath:
    @pytest.mark.parametrize("path", ["/", "/flows", "/flows/1?tab=runs&x=%2F%2Fevil#step", "/a/../b", "/@x", "/a:b"])
    def test_keeps_a_path_of_this_site(self, path: str) -> None:
        assert safe_path(path) == path

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "flows",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "/flows\r\nSet-Cookie: x=1",
            "/é",
            "/" + "x" * 1000,
        ],
    )
    def test_sends_everything_else_home(self, path: str) -> None:
        assert safe_path(path) == HOME

    @given(st.text(alphabet="/\\.:@?# \t\nevil%2F", max_size=12))
    def test_never_leaves_the_site(self, path: str) -> None:
        """As the URL Standard reads it: backslashes are slashes, tabs and line breaks are nothing."""
        found = safe_path(path)
        read = "".join(letter for letter in found if letter not in "\t\n\r").replace("\\", "/")
        assert read.startswith("/")
        assert not read.startswith("//")
