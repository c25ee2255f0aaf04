"""A provider that lies, over HTTP: what it says is believed only when every check holds."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from headgate.features.accounts.single_sign_on.errors import (
    KeyUnknown,
    ProviderRefused,
    ProviderUnusable,
    SignInCancelled,
    SignInLost,
    TokenRefused,
)
from headgate.features.accounts.single_sign_on.provider import MAX_BYTES, Provider, open_http
from headgate.features.accounts.single_sign_on.sign_on import ProviderIdentity, SingleSignOn
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import HeadgateError
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import SingleSignOnSettings
from tests.support.databases import make_settings
from tests.support.direct import DIRECT
from tests.support.hostile_provider import (
    ACCESS_TOKEN,
    CLIENT_ID,
    HostileProvider,
    at_hash,
    encoded,
    new_key,
    public_jwk,
    public_pem,
)
from tests.support.scripted_server import Drop, Pause, Reply, json_reply

CALLBACK = "https://headgate.test/api/v1/sign-in/oidc/callback"
DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with HostileProvider() as found:
        yield found


class Client:
    """One installation, and one browser that signs in there."""

    def __init__(self, provider: HostileProvider, folder: Path, *, seconds: float = 30, **settings: Any) -> None:
        self.settings = SingleSignOnSettings(issuer=provider.issuer, client_id=CLIENT_ID, **settings)
        self.http = open_http(DIRECT, seconds=seconds)
        self.box = SecretBox(new_ring(make_settings(folder)))
        self.sso = SingleSignOn(self.settings, self.box, Provider(provider.issuer, self.http))
        self._provider = provider

    async def begin(self, wanted: str = "/") -> tuple[dict[str, str], str]:
        url, held = await self.sso.begin(CALLBACK, wanted)
        return self._provider.leave(url), held

    async def sign_in(self, **answer: str) -> ProviderIdentity:
        brought, held = await self.begin()
        vouched, _ = await self.sso.finish({"code": "a-code", "state": brought["state"]} | answer, held)
        return vouched


@pytest.fixture
async def client(provider: HostileProvider, tmp_path: Path) -> AsyncIterator[Client]:
    found = Client(provider, tmp_path)
    yield found
    await found.sso.close()


class TestGoodProvider:
    async def test_vouches_for_a_person(self, client: Client, provider: HostileProvider) -> None:
        found = await client.sign_in()
        assert found == ProviderIdentity(provider.issuer, "person-1", "ada@example.org", True, "Ada", None)

    async def test_gets_a_request_with_pkce_state_and_nonce(self, client: Client) -> None:
        brought, _ = await client.begin()
        assert brought["response_type"] == "code"
        assert brought["client_id"] == CLIENT_ID
        assert brought["redirect_uri"] == CALLBACK
        assert brought["code_challenge_method"] == "S256"
        assert {len(brought[name]) for name in ("state", "nonce", "code_challenge")} == {43}
        again, _ = await client.begin()
        assert not {again[name] for name in ("state", "nonce", "code_challenge")} & set(brought.values())

    async def test_is_asked_for_its_document_and_keys_once(self, client: Client, provider: HostileProvider) -> None:
        await client.sign_in()
        await client.sign_in()
        assert [len(provider.asked(path)) for path in (DISCOVERY, "/keys", "/token", "/userinfo")] == [1, 1, 2, 0]

    async def test_gets_the_verifier_and_no_secret_from_a_public_client(
        self, client: Client, provider: HostileProvider
    ) -> None:
        await client.sign_in()
        (asked,) = provider.asked("/token")
        assert b"code_verifier=" in asked.body
        assert b"client_id=headgate" in asked.body
        assert "authorization" not in asked.headers

    async def test_gets_the_secret_in_the_header_or_in_the_body(
        self, provider: HostileProvider, tmp_path: Path
    ) -> None:
        secret = SecretStr("a+secret%")
        client = Client(provider, tmp_path, client_secret=secret)
        await client.sign_in()
        await client.sso.close()
        provider.document = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        client = Client(provider, tmp_path, client_secret=secret)
        await client.sign_in()
        await client.sso.close()
        basic, post = provider.asked("/token")
        assert basic.headers["authorization"].startswith("Basic ")
        assert b"client_secret" not in basic.body
        assert b"client_secret=a%2Bsecret%25" in post.body
        assert "authorization" not in post.headers

    async def test_may_be_a_minute_off(self, client: Client, provider: HostileProvider) -> None:
        provider.claims = {"exp": int(time.time()) - 30, "iat": int(time.time()) + 30}
        assert (await client.sign_in()).subject == "person-1"

    async def test_may_name_no_key_when_it_has_one(self, client: Client, provider: HostileProvider) -> None:
        provider.kid = None
        assert (await client.sign_in()).subject == "person-1"

    async def test_may_publish_keys_of_kinds_we_do_not_know(self, client: Client, provider: HostileProvider) -> None:
        own = [public_jwk(key, kid) for kid, key in provider.keys.items()]
        provider.published = [{"kty": "AKP", "kid": "new", "pub": "AA"}, *own]
        assert (await client.sign_in()).subject == "person-1"


class TestToken:
    @pytest.mark.parametrize(
        ("claims", "why"),
        [
            ({"iss": "https://elsewhere.example.org"}, "iss"),
            ({"iss": None}, "iss"),
            ({"aud": "another-client"}, "aud"),
            ({"aud": ["another-client"]}, "aud"),
            ({"aud": None}, "aud"),
            ({"aud": [CLIENT_ID, "another-client"]}, "azp"),
            ({"aud": [CLIENT_ID, "another-client"], "azp": "another-client"}, "azp"),
            ({"azp": "another-client"}, "azp"),
            ({"exp": 1_000_000_000}, "exp"),
            ({"exp": None}, "exp"),
            ({"exp": "never"}, "exp"),
            ({"iat": 40_000_000_000}, "iat"),
            ({"nbf": 40_000_000_000}, "nbf"),
            ({"nonce": "another"}, "nonce"),
            ({"nonce": None}, "nonce"),
            ({"at_hash": at_hash("another")}, "at_hash"),
            ({"at_hash": 7}, "at_hash"),
            ({"sub": None}, "sub"),
            ({"sub": ""}, "sub"),
            ({"sub": 7}, "sub"),
            ({"sub": "x" * 256}, "subject"),
        ],
    )
    async def test_is_refused_when_a_claim_is_wrong(
        self, client: Client, provider: HostileProvider, claims: dict[str, Any], why: str
    ) -> None:
        provider.claims = claims
        with pytest.raises(TokenRefused, match=why):
            await client.sign_in()

    async def test_without_signature_is_refused(self, client: Client, provider: HostileProvider) -> None:
        provider.alg = "none"
        with pytest.raises(TokenRefused, match="unsupported_algorithm"):
            await client.sign_in()

    async def test_signed_with_the_public_key_as_a_secret_is_refused(
        self, client: Client, provider: HostileProvider
    ) -> None:
        provider.alg = "HS256"
        pem = encoded(public_pem(provider.keys["one"]))
        for published in (None, [{"kty": "oct", "kid": "one", "k": pem}]):
            provider.published = published
            with pytest.raises(TokenRefused, match=r"unsupported_algorithm|none of its keys"):
                await client.sign_in()

    async def test_of_a_key_that_the_provider_does_not_publish_is_refused(
        self, client: Client, provider: HostileProvider
    ) -> None:
        provider.published = [public_jwk(new_key(), "one")]
        with pytest.raises(KeyUnknown):
            await client.sign_in()

    async def test_that_brings_its_own_key_is_refused(self, client: Client, provider: HostileProvider) -> None:
        provider.published = [public_jwk(new_key(), "another")]
        provider.header = {"jwk": public_jwk(provider.keys["one"], "one")}
        with pytest.raises(TokenRefused):
            await client.sign_in()

    async def test_of_an_unknown_key_makes_us_ask_for_the_keys_once_more(
        self, client: Client, provider: HostileProvider
    ) -> None:
        provider.kid = "unknown"
        with pytest.raises(KeyUnknown):
            await client.sign_in()
        assert len(provider.asked("/keys")) == 2

    async def test_of_a_key_that_is_new_is_believed(self, client: Client, provider: HostileProvider) -> None:
        await client.sign_in()
        provider.keys = {"two": new_key()}
        assert (await client.sign_in()).subject == "person-1"
        assert len(provider.asked("/keys")) == 2
        provider.keys = {"two": new_key()}  # the name stays, the key does not
        assert (await client.sign_in()).subject == "person-1"

    @pytest.mark.parametrize("token", ["", "x", "a.b.c", "e30.e30.", "." * 5, "é.é.é", None, 7])
    async def test_that_is_none_is_refused(self, client: Client, provider: HostileProvider, token: object) -> None:
        provider.replies["/token"] = json_reply({"access_token": ACCESS_TOKEN, "id_token": token})
        with pytest.raises(TokenRefused):
            await client.sign_in()

    async def test_is_never_in_the_message(self, client: Client, provider: HostileProvider) -> None:
        provider.claims = {"iss": "https://<script>"}
        with pytest.raises(TokenRefused) as caught:
            await client.sign_in()
        assert "script" not in str(caught.value)


class TestUserinfo:
    async def test_is_asked_for_a_missing_email_address(self, client: Client, provider: HostileProvider) -> None:
        provider.claims = {"email": None, "email_verified": True}
        provider.userinfo = {"email": "Grace@Example.org", "email_verified": False}
        found = await client.sign_in()
        assert (found.email, found.email_verified) == ("grace@example.org", False)
        assert provider.asked("/userinfo")[0].headers["authorization"] == f"Bearer {ACCESS_TOKEN}"

    async def test_about_somebody_else_is_refused(self, client: Client, provider: HostileProvider) -> None:
        provider.claims = {"email": None}
        provider.userinfo = {"sub": "person-2", "email": "ada@example.org"}
        with pytest.raises(TokenRefused, match="the ID token and userinfo are about different users"):
            await client.sign_in()

    async def test_may_be_missing(self, client: Client, provider: HostileProvider) -> None:
        provider.claims = {"email": None}
        provider.document = {"userinfo_endpoint": None}
        assert (await client.sign_in()).email is None


class TestAdminClaim:
    @pytest.mark.parametrize(
        ("groups", "admin"),
        [(["staff", "boss"], True), ("boss", True), (["staff"], False), ("bossy", False), (None, False), (7, False)],
    )
    async def test_says_who_is_an_admin(
        self, provider: HostileProvider, tmp_path: Path, groups: object, admin: bool
    ) -> None:
        client = Client(provider, tmp_path, admin_claim="groups", admin_value="boss")
        provider.claims = {"groups": groups}
        assert (await client.sign_in()).admin is admin
        await client.sso.close()

    async def test_is_looked_for_in_userinfo_too(self, provider: HostileProvider, tmp_path: Path) -> None:
        client = Client(provider, tmp_path, admin_claim="groups", admin_value="boss")
        provider.userinfo = {"groups": ["boss"]}
        assert (await client.sign_in()).admin is True
        await client.sso.close()


class TestAnswer:
    async def test_cannot_be_given_twice(self, client: Client) -> None:
        brought, held = await client.begin()
        answer = {"code": "a-code", "state": brought["state"]}
        await client.sso.finish(answer, held)
        with pytest.raises(SignInLost):
            await client.sso.finish(answer, held)

    async def test_of_another_browser_is_refused(self, client: Client, provider: HostileProvider) -> None:
        ours, held_by_us = await client.begin()
        theirs, held_by_them = await client.begin()
        for state, held in ((theirs["state"], held_by_us), (ours["state"], held_by_them), (ours["state"], None)):
            with pytest.raises(SignInLost):
                await client.sso.finish({"code": "a-code", "state": state}, held)
        assert provider.asked("/token") == []

    async def test_of_another_provider_is_refused(self, client: Client, provider: HostileProvider) -> None:
        with pytest.raises(TokenRefused, match="does not name its issuer"):
            await client.sign_in(iss="https://elsewhere.example.org")
        assert provider.asked("/token") == []

    async def test_must_name_the_provider_where_it_says_it_does(
        self, client: Client, provider: HostileProvider
    ) -> None:
        provider.document = {"authorization_response_iss_parameter_supported": True}
        with pytest.raises(TokenRefused, match="does not name its issuer"):
            await client.sign_in()
        assert (await client.sign_in(iss=provider.issuer)).subject == "person-1"

    async def test_begun_with_a_provider_that_was_changed_since_is_refused(
        self, client: Client, provider: HostileProvider, tmp_path: Path
    ) -> None:
        brought, held = await client.begin()
        with HostileProvider() as other:
            changed = Client(other, tmp_path)
            with pytest.raises(SignInLost):
                await changed.sso.finish({"code": "a-code", "state": brought["state"]}, held)
            await changed.sso.close()

    async def test_may_say_that_the_person_cancelled(self, client: Client) -> None:
        with pytest.raises(SignInCancelled):
            await client.sign_in(error="access_denied", error_description="<b>no</b>")

    async def test_with_an_error_is_told_without_the_providers_words(self, client: Client) -> None:
        with pytest.raises(ProviderRefused) as caught:
            await client.sign_in(error="<script>", error_description="<b>no</b>")
        assert "<" not in str(caught.value)

    @pytest.mark.parametrize("code", ["", "x" * 5000])
    async def test_without_a_code_is_refused(self, client: Client, code: str) -> None:
        with pytest.raises(ProviderRefused):
            await client.sign_in(code=code)

    async def test_to_the_code_may_be_an_error(self, client: Client, provider: HostileProvider) -> None:
        provider.replies["/token"] = json_reply({"error": "invalid_grant"}, status=400)
        with pytest.raises(ProviderRefused):
            await client.sign_in()


SLOW = Reply((b"{", Pause(60), b"}"), headers={"content-length": "2"})
HTML = Reply((b"<html>Gateway</html>",), media_type="text/html")
BROKEN: dict[str, Reply] = {
    "html": HTML,
    "an error page": Reply((b"<html>",), status=502, media_type="text/html"),
    "json of another kind": json_reply([1, 2]),
    "an empty object with status 500": json_reply({}, status=500),
    "huge": Reply((b"[" + b" " * MAX_BYTES, b"]")),
    "huge and announced": Reply((b"{}",), headers={"content-length": str(10**12)}),
    "dropped": Reply((b"{", Drop()), headers={"content-length": "2"}),
    "a redirect": Reply(status=302, headers={"location": "/elsewhere"}),
    "a redirect to another site": Reply(status=307, headers={"location": "http://169.254.169.254/"}),
}


class TestBrokenProvider:
    @pytest.mark.parametrize("path", [DISCOVERY, "/keys", "/token", "/userinfo"])
    @pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN.keys())
    async def test_is_told_as_one(self, client: Client, provider: HostileProvider, path: str, reply: Reply) -> None:
        provider.claims = {"email": None}
        provider.replies[path] = reply
        with pytest.raises(ProviderUnusable) as caught:
            await client.sign_in()
        assert "<" not in caught.value.detail
        assert provider.asked("/elsewhere") == []

    @pytest.mark.parametrize("path", [DISCOVERY, "/token"])
    async def test_is_not_waited_for(self, provider: HostileProvider, tmp_path: Path, path: str) -> None:
        client = Client(provider, tmp_path, seconds=0.5)
        provider.replies[path] = SLOW
        with pytest.raises(ProviderUnusable):
            await client.sign_in()
        await client.sso.close()

    async def test_is_asked_again_when_it_is_mended(self, client: Client, provider: HostileProvider) -> None:
        provider.replies[DISCOVERY] = HTML
        with pytest.raises(ProviderUnusable):
            await client.sign_in()
        provider.replies.clear()
        assert (await client.sign_in()).subject == "person-1"

    @pytest.mark.parametrize(
        "document",
        [
            {"issuer": "https://elsewhere.example.org"},
            {"issuer": None},
            {"token_endpoint": None},
            {"token_endpoint": 7},
            {"token_endpoint": "http://example.org/token"},
            {"token_endpoint": "file:///etc/passwd"},
            {"jwks_uri": "ftp://127.0.0.1/keys"},
            {"jwks_uri": "http://169.254.169.254/keys"},
            {"jwks_uri": "//127.0.0.1/keys"},
            {"authorization_endpoint": "javascript:alert(1)"},
            {"authorization_endpoint": "https://user:password@example.org/"},
            {"userinfo_endpoint": "http://[::1"},
        ],
    )
    async def test_is_refused_for_its_document(
        self, client: Client, provider: HostileProvider, document: dict[str, Any]
    ) -> None:
        provider.document = document
        with pytest.raises(ProviderUnusable):
            await client.sign_in()

    async def test_that_is_not_there_is_told(self, client: Client, provider: HostileProvider) -> None:
        provider.server.__exit__(None, None, None)
        with pytest.raises(ProviderUnusable) as caught:
            await client.sign_in()
        assert isinstance(caught.value, HeadgateError)
        assert "headgate doctor" in caught.value.remedy
