"""Signature schemes, computed here as the services document them."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.triggers.errors import HookRefused
from headgate.features.triggers.hooks.signatures import Call, verify
from headgate.features.triggers.settings import WebhookConfig

BODY = b'{"id":"evt_1","amount":40}'
SECRET = "It's a Secret to Everybody"
AT = 1_700_000_000


def signed(key: bytes, content: bytes, name: str = "sha256") -> bytes:
    return hmac.new(key, content, getattr(hashlib, name)).digest()


def github(body: bytes = BODY, secret: str = SECRET, at: int = AT) -> dict[str, str]:
    del at
    return {"x-hub-signature-256": "sha256=" + signed(secret.encode(), body).hex()}


def stripe(body: bytes = BODY, secret: str = SECRET, at: int = AT) -> dict[str, str]:
    signature = signed(secret.encode(), f"{at}.".encode() + body).hex()
    return {
        "stripe-signature": f"t={at},v1={signature},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"
    }


def slack(body: bytes = BODY, secret: str = SECRET, at: int = AT) -> dict[str, str]:
    signature = signed(secret.encode(), f"v0:{at}:".encode() + body).hex()
    return {"x-slack-signature": f"v0={signature}", "x-slack-request-timestamp": str(at)}


WHSEC = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()


def standard(body: bytes = BODY, secret: str = WHSEC, at: int = AT) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = base64.b64encode(signed(key, f"msg_1.{at}.".encode() + body)).decode()
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": f"v1,{signature}"}


SCHEMES: Mapping[str, tuple[Any, str]] = {
    "github": (github, SECRET),
    "stripe": (stripe, SECRET),
    "slack": (slack, SECRET),
    "standard": (standard, WHSEC),
}


def check(kind: str, headers: Mapping[str, str], *, body: bytes = BODY, at: float = AT, **config: Any) -> None:
    secret = config.pop("secret", SCHEMES[kind][1] if kind in SCHEMES else SECRET)
    verify(WebhookConfig(verification=kind, **config), secret, Call(headers, body, at))


class TestServices:
    def test_a_published_example_of_github_is_verified(self) -> None:
        wanted = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        check("github", {"x-hub-signature-256": f"sha256={wanted}"}, body=b"Hello, World!")

    def test_a_published_example_of_slack_is_verified(self) -> None:
        body = (
            b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
            b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
            b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
            b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
        )
        headers = {
            "x-slack-request-timestamp": "1531420618",
            "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
        }
        check("slack", headers, body=body, at=1_531_420_620, secret="8f742231b10e8888abcd99yyyzzz85a5")

    @pytest.mark.parametrize("kind", SCHEMES)
    def test_their_signatures_are_verified(self, kind: str) -> None:
        check(kind, SCHEMES[kind][0]())

    @pytest.mark.parametrize("kind", SCHEMES)
    @given(position=st.integers(0, len(BODY) - 1))
    def test_a_changed_body_is_refused(self, kind: str, position: int) -> None:
        changed = BODY[:position] + bytes([BODY[position] ^ 1]) + BODY[position + 1 :]
        with pytest.raises(HookRefused):
            check(kind, SCHEMES[kind][0](), body=changed)

    @pytest.mark.parametrize("kind", SCHEMES)
    def test_another_secret_or_none_is_refused(self, kind: str) -> None:
        other = "whsec_" + base64.b64encode(b"another").decode()
        headers: dict[str, str]
        for headers in (SCHEMES[kind][0](secret=other), {}):
            with pytest.raises(HookRefused):
                check(kind, headers)

    @pytest.mark.parametrize("kind", ["stripe", "slack", "standard"])
    @pytest.mark.parametrize("later", [301, -301, 10**9])
    def test_a_call_outside_of_the_replay_window_is_refused(self, kind: str, later: int) -> None:
        check(kind, SCHEMES[kind][0](), at=AT + (299 if later > 0 else -299))
        with pytest.raises(HookRefused, match="seconds away"):
            check(kind, SCHEMES[kind][0](), at=AT + later)

    @pytest.mark.parametrize("kind", ["stripe", "slack", "standard"])
    def test_a_signed_time_cannot_be_changed(self, kind: str) -> None:
        headers: dict[str, str] = {
            name: value.replace(str(AT), str(AT + 1)) for name, value in SCHEMES[kind][0]().items()
        }
        with pytest.raises(HookRefused):
            check(kind, headers)

    def test_one_of_several_signatures_suffices_while_a_secret_is_replaced(self) -> None:
        old = standard(secret="whsec_" + base64.b64encode(b"old").decode())["webhook-signature"]
        new = standard()
        check("standard", new | {"webhook-signature": f"{old} {new['webhook-signature']}"})


class TestOthers:
    @pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512"])
    def test_hmac_with_header_algorithm_encoding_and_prefix(self, algorithm: Any) -> None:
        digest = signed(SECRET.encode(), BODY, algorithm)
        given_hex = {"x-sig": f"{algorithm}={digest.hex()}"}
        check("hmac", given_hex, header="X-Sig", algorithm=algorithm, prefix=f"{algorithm}=")
        check("hmac", {"x-signature": base64.b64encode(digest).decode()}, algorithm=algorithm, encoding="base64")
        with pytest.raises(HookRefused):
            check("hmac", {"x-signature": digest.hex()[:-1]}, algorithm=algorithm)

    def test_basic(self) -> None:
        given = base64.b64encode(b"user:word").decode()
        check("basic", {"authorization": f"Basic {given}"}, secret="user:word")
        for wrong in ("Basic", f"Bearer {given}", "Basic dXNlcjp3cm9uZw=="):
            with pytest.raises(HookRefused):
                check("basic", {"authorization": wrong}, secret="user:word")

    def test_key(self) -> None:
        check("key", {"x-api-key": SECRET})
        check("key", {"authorization": f"Bearer {SECRET}"})
        check("key", {"x-gitlab-token": SECRET}, header="X-Gitlab-Token")
        for wrong in ({"x-api-key": SECRET + "x"}, {"x-api-key": ""}, {}):
            with pytest.raises(HookRefused):
                check("key", wrong)
