"""An OpenID Connect provider that lies as it is told. It signs tokens by hand, with none of the client's libraries."""

import base64
import functools
import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.scripted_server import Asked, Reply, ScriptedServer, json_reply

CLIENT_ID = "headgate"
ACCESS_TOKEN = "an access token"
Key = rsa.RSAPrivateKey


def new_key() -> Key:
    """A new one; making it takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@functools.cache
def own_key() -> Key:
    """The key of every good provider."""
    return new_key()


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def public_jwk(key: Key, kid: str) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    modulus = numbers.n.to_bytes(256, "big")
    return {"kty": "RSA", "use": "sig", "kid": kid, "n": encoded(modulus), "e": encoded(numbers.e.to_bytes(3, "big"))}


def public_pem(key: Key) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def at_hash(access_token: str) -> str:
    return encoded(hashlib.sha256(access_token.encode()).digest()[:16])


@dataclass
class HostileProvider:
    """Set what it is to say; as it is made, it is a good provider."""

    keys: dict[str, Key] = field(default_factory=lambda: {"one": own_key()})
    """What signs, by name; the last one is used."""
    published: list[dict[str, str]] | None = None
    """The JWK set; None for the keys there are."""
    kid: str | None = ""
    """What the header names; empty for the key that signs, None for no name."""
    alg: str = "RS256"
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims that replace the right ones; None takes one out."""
    header: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    """Members that replace the right ones of the discovery document; None takes one out."""
    replies: dict[str, Reply] = field(default_factory=dict)
    """Whole answers, by path."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    nonce: str = ""
    """Of the browser that was sent here last."""
    nonces: set[str] = field(default_factory=set)
    """Of all that were sent here: a code that is one of these is for that browser."""
    server: ScriptedServer = field(default_factory=ScriptedServer)

    @property
    def issuer(self) -> str:
        return self.server.origin

    def asked(self, path: str) -> list[Asked]:
        return [asked for asked in self.server.asked if urlsplit(asked.path).path == path]

    def leave(self, url: str) -> dict[str, str]:
        """What a browser that is sent here brings along."""
        found = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.nonce = found["nonce"]
        self.nonces.add(self.nonce)
        return found

    def id_token(self, nonce: str) -> str:
        kid, key = list(self.keys.items())[-1]
        header = {"alg": self.alg, "kid": kid if self.kid == "" else self.kid} | self.header
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "person-1",
            "aud": CLIENT_ID,
            "exp": now + 300,
            "iat": now,
            "nonce": nonce,
            "at_hash": at_hash(ACCESS_TOKEN),
            "email": "ada@example.org",
            "email_verified": True,
            "name": "Ada",
        } | self.claims
        signed = f"{encoded(_json(header))}.{encoded(_json(claims))}".encode()
        return f"{signed.decode()}.{encoded(self._sign(key, signed))}"

    def logout_token(self, **claims: Any) -> str:
        """A token that signs person-1 out; None takes a claim out."""
        kid, key = list(self.keys.items())[-1]
        header = {"alg": self.alg, "kid": kid, "typ": "logout+jwt"}
        found = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": int(time.time()),
            "jti": "a-token",
            "sub": "person-1",
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        } | claims
        found = {name: value for name, value in found.items() if value is not None}
        signed = f"{encoded(_json(header))}.{encoded(_json(found))}".encode()
        return f"{signed.decode()}.{encoded(self._sign(key, signed))}"

    def _sign(self, key: Key, signed: bytes) -> bytes:
        if self.alg == "none":
            return b""
        if self.alg == "HS256":  # with the public key as if it were a shared secret
            return hmac.digest(public_pem(key), signed, "sha256")
        return key.sign(signed, padding.PKCS1v15(), hashes.SHA256())

    def _answer(self, asked: Asked) -> Reply:
        path = urlsplit(asked.path).path
        if path in self.replies:
            return self.replies[path]
        if path == "/.well-known/openid-configuration":
            return json_reply(self._document())
        if path == "/keys":
            own = [public_jwk(key, kid) for kid, key in self.keys.items()]
            return json_reply({"keys": own if self.published is None else self.published})
        if path == "/token":
            code = parse_qs(asked.body.decode())["code"][0]
            id_token = self.id_token(code if code in self.nonces else self.nonce)
            return json_reply({"access_token": ACCESS_TOKEN, "token_type": "Bearer", "id_token": id_token})
        return json_reply({"sub": "person-1"} | self.userinfo)

    def _document(self) -> dict[str, Any]:
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
        } | self.document
        return {name: value for name, value in document.items() if value is not None}

    def __enter__(self) -> Self:
        self.server.script(self._answer)
        self.server.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.server.__exit__(kind, error, at)


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps({name: item for name, item in value.items() if item is not None}).encode()
