"""Retry rules: when to retry, and after how long."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from secrets import SystemRandom

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before the second, third and fourth attempt (seed 002, SSRF + HTTP features), plus or minus a fifth."""
JITTER = 0.2
MAX_RETRY_AFTER = 15.0
"""Maximum `Retry-After` in seconds; above it the response is returned as it is."""
RETRIED_STATUSES = frozenset({429, 502, 503, 504})

_random = SystemRandom()


def spread(pause: float) -> float:
    """Return a pause with jitter, so that many runs do not retry at the same time."""
    return pause * _random.uniform(1 - JITTER, 1 + JITTER)


def pause_after(status: int, headers: Mapping[str, str], pause: float) -> float | None:
    """Return the seconds to wait before a retry after a response; None when the response is final."""
    if status not in RETRIED_STATUSES:
        return None
    seconds = retry_after(headers.get("retry-after", ""))
    if seconds is None:
        return spread(pause)
    return None if seconds > MAX_RETRY_AFTER else max(seconds, spread(pause))


def retry_after(value: str) -> float | None:
    """Return the seconds of a `Retry-After` header, a number or an HTTP date; None when it is neither."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
