"""What a browser holds while it is away."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from headgate.features.accounts.single_sign_on.errors import SignInLost
from headgate.features.accounts.single_sign_on.transaction import (
    LIFETIME_SECONDS,
    begin_transaction,
    seal,
    unseal,
)
from headgate.foundation.crypto import SecretBox
from headgate.foundation.keyring import new_ring
from tests.support.databases import make_settings


@pytest.fixture
def box(tmp_path: Path) -> SecretBox:
    return SecretBox(new_ring(make_settings(tmp_path)))


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
        other = SecretBox(new_ring(make_settings(tmp_path / "other")))
        with pytest.raises(SignInLost):
            unseal(box, seal(other, begin_transaction("https://issuer", "https://here/callback", "/")))

    @pytest.mark.parametrize("seconds", [LIFETIME_SECONDS + 1, -60])
    def test_refuses_one_of_another_time(self, box: SecretBox, monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
        made = begin_transaction("https://issuer", "https://here/callback", "/")
        monkeypatch.setattr("time.time", lambda: made.started_at + seconds)
        with pytest.raises(SignInLost):
            unseal(box, seal(box, made))
