"""Signature of a GET request to an S3-compatible store (AWS Signature Version 4)."""

import hashlib
import hmac
from datetime import UTC, datetime
from urllib.parse import urlsplit

_EMPTY = hashlib.sha256(b"").hexdigest()


def signed_headers(
    url: str, region: str, access_key: str, secret_key: str, *, at: datetime | None = None
) -> dict[str, str]:
    """Return the headers of a GET request with parameters in alphabetical order."""
    parts = urlsplit(url)
    moment = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    day, names = moment[:8], "host;x-amz-content-sha256;x-amz-date"
    canonical = "\n".join(
        [
            "GET",
            parts.path or "/",
            parts.query,
            f"host:{parts.netloc}",
            f"x-amz-content-sha256:{_EMPTY}",
            f"x-amz-date:{moment}",
            "",
            names,
            _EMPTY,
        ]
    )
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret_key}".encode()
    for part in (day, region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    credential = f"Credential={access_key}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    return {
        "x-amz-date": moment,
        "x-amz-content-sha256": _EMPTY,
        "Authorization": f"AWS4-HMAC-SHA256 {credential}",
    }
