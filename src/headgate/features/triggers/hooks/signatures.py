"""Verifies calls by the public signature schemes of the services that send them. Pure; comparisons take equal time.

GitHub: `X-Hub-Signature-256: sha256=HEX` over the body. Stripe: `Stripe-Signature: t=TIME,v1=HEX` over `TIME.BODY`.
Slack: `X-Slack-Signature: v0=HEX` over `v0:TIME:BODY`. Standard Webhooks: `webhook-signature: v1,BASE64` over
`ID.TIME.BODY` with a secret `whsec_BASE64`. All are HMAC-SHA256; times are seconds in UTC.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headgate.features.triggers.errors import HookRefused
from headgate.features.triggers.hook_secrets import standard_key
from headgate.features.triggers.settings import Verification, WebhookConfig

EVENT_KEYS: Mapping[Verification, str] = {
    "github": "header:x-github-delivery",
    "stripe": "body:id",
    "slack": "body:event_id",
    "standard": "header:webhook-id",
}
"""Where each service sends the unique key of an event: the same when it is delivered again."""


_TIMES: Mapping[Verification, str] = {
    "stripe": "stripe-signature",
    "slack": "x-slack-request-timestamp",
    "standard": "webhook-timestamp",
}
"""Headers with the time that a scheme signs."""


@dataclass(frozen=True, slots=True)
class Call:
    """A received call."""

    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes
    at: float
    """Seconds in UTC."""


def verify(config: WebhookConfig, secret: str, call: Call) -> None:
    """Raise `HookRefused` unless the call proves that it knows the secret, and is recent where it signs its time."""
    _VERIFIERS[config.verification](config, secret, call)


def replay_key(config: WebhookConfig, call: Call) -> str | None:
    """Return a key of a verified call that its sender gave none: the same for the same signed time and body."""
    header = _TIMES.get(config.verification)
    if header is None:
        return None
    value = _header(call, header)
    time = _signed_time(value) if config.verification == "stripe" else value
    return f"sha256:{hashlib.sha256(time.encode() + b'.' + call.body).hexdigest()}"


def _none(_config: WebhookConfig, _secret: str, _call: Call) -> None:
    return None


def _github(_config: WebhookConfig, secret: str, call: Call) -> None:
    _require_equal(_header(call, "x-hub-signature-256"), f"sha256={_hex(secret.encode(), call.body)}")


def _stripe(config: WebhookConfig, secret: str, call: Call) -> None:
    header = _header(call, "stripe-signature")
    parts, time = [part.partition("=") for part in header.split(",")], _signed_time(header)
    _require_recent(config, time, call)
    expected = _hex(secret.encode(), f"{time}.".encode() + call.body)
    _require_one([value for name, _, value in parts if name.strip() == "v1"], expected)


def _signed_time(header: str) -> str:
    parts = [part.partition("=") for part in header.split(",")]
    return next((value for name, _, value in parts if name.strip() == "t"), "")


def _slack(config: WebhookConfig, secret: str, call: Call) -> None:
    time = _header(call, "x-slack-request-timestamp")
    _require_recent(config, time, call)
    expected = _hex(secret.encode(), f"v0:{time}:".encode() + call.body)
    _require_equal(_header(call, "x-slack-signature"), f"v0={expected}")


def _standard(config: WebhookConfig, secret: str, call: Call) -> None:
    time = _header(call, "webhook-timestamp")
    _require_recent(config, time, call)
    key = standard_key(secret)
    if key is None:
        raise HookRefused("the trigger's secret is not Base64, as Standard Webhooks require")
    content = f"{_header(call, 'webhook-id')}.{time}.".encode() + call.body
    expected = base64.b64encode(hmac.digest(key, content, "sha256")).decode()
    signatures = [entry.partition(",") for entry in _header(call, "webhook-signature").split(" ")]
    _require_one([value for version, _, value in signatures if version == "v1"], expected)


def _hmac(config: WebhookConfig, secret: str, call: Call) -> None:
    digest = hmac.digest(secret.encode(), call.body, config.algorithm)
    text = digest.hex() if config.encoding == "hex" else base64.b64encode(digest).decode()
    _require_equal(_header(call, (config.header or "X-Signature").lower()), config.prefix + text)


def _basic(_config: WebhookConfig, secret: str, call: Call) -> None:
    scheme, _, given = _header(call, "authorization").partition(" ")
    if scheme.lower() != "basic":
        raise HookRefused("it has no user name and password")
    _require_equal(given.strip(), base64.b64encode(secret.encode()).decode())


def _key(config: WebhookConfig, secret: str, call: Call) -> None:
    name = (config.header or "X-Api-Key").lower()
    given = call.headers.get(name)
    if given is None:
        given = _header(call, "authorization").removeprefix("Bearer ").strip()
    _require_equal(given, secret)


_VERIFIERS: Mapping[Verification, Callable[[WebhookConfig, str, Call], None]] = {
    "none": _none,
    "github": _github,
    "stripe": _stripe,
    "slack": _slack,
    "standard": _standard,
    "hmac": _hmac,
    "basic": _basic,
    "key": _key,
}


def _header(call: Call, name: str) -> str:
    if (value := call.headers.get(name)) is None:
        raise HookRefused(f"it has no header {name}")
    return value


def _require_recent(config: WebhookConfig, time: str, call: Call) -> None:
    if not (time.isascii() and time.isdigit() and len(time) <= 12):
        raise HookRefused("it has no valid time")
    if abs(call.at - int(time)) > config.replay_seconds:
        raise HookRefused(f"its time is more than {config.replay_seconds} seconds away")


def _require_equal(given: str, expected: str) -> None:
    _require_one([given], expected)


def _require_one(given: list[str], expected: str) -> None:
    """One of several signatures suffices: senders send an old and a new one while a secret is replaced."""
    if not any([hmac.compare_digest(value.encode(), expected.encode()) for value in given]):  # noqa: C419 - all are compared
        raise HookRefused("its signature or secret is wrong")


def _hex(key: bytes, content: bytes) -> str:
    return hmac.digest(key, content, "sha256").hex()
