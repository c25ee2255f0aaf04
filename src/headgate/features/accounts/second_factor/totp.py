"""Time-based one-time passwords (RFC 6238): SHA-1, six digits, 30 seconds, as in all authenticator apps."""

import base64
import hmac
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import segno
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.twofactor import hotp
else:
    segno = lazy_module("segno")
    hashes = lazy_module("cryptography.hazmat.primitives.hashes")
    hotp = lazy_module("cryptography.hazmat.primitives.twofactor.hotp")

SECRET_BYTES = 20
"""RFC 4226, 4 recommends 160 bits."""
DIGITS = 6
STEP_SECONDS = 30
DRIFT = 1
"""Accepted steps before and after the current one (RFC 6238, 5.2)."""
ISSUER = "Headgate"
clock: Callable[[], float] = time.time


def new_secret() -> str:
    """Return a new secret, in base32 as apps expect it."""
    return base64.b32encode(os.urandom(SECRET_BYTES)).decode()


def code_at(secret: str, step: int) -> str:
    """Return the code of a time step: an HOTP (RFC 4226) with the step as counter."""
    generator = hotp.HOTP(base64.b32decode(secret), DIGITS, hashes.SHA1())
    return generator.generate(step).decode()


def matching_step(secret: str, code: str) -> int | None:
    """Return the time step of a code, near the current time; None for a wrong code.

    Each step is compared in constant time, also after a match.
    """
    now = int(clock()) // STEP_SECONDS
    match = None
    for step in range(now - DRIFT, now + DRIFT + 1):
        if hmac.compare_digest(code_at(secret, step).encode(), code.encode()):
            match = step
    return match


def enrolment_uri(secret: str, account: str, organisation: str) -> str:
    """Return the `otpauth:` URI for a QR code (Key Uri Format)."""
    issuer = quote(f"{ISSUER} ({organisation})"[:100])
    return (
        f"otpauth://totp/{issuer}:{quote(account)}?secret={secret}&issuer={issuer}"
        f"&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}"
    )


def qr_picture(uri: str) -> str:
    """Return the URI as a QR code: an SVG in a data URI, black on white in light and dark themes."""
    return segno.make(uri, error="m").svg_data_uri(scale=4, border=4, dark="#000", light="#fff")
