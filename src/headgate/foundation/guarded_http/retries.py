"""When to try again, and after how long."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from secrets import SystemRandom

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before the second, third and fourth attempt (seed 002, SSRF + HTTP features), give or take a fifth."""
JITTER = 0.2
MAX_RETRY_AFTER = 15.0
"""Seconds that a server may ask to wait; longer and its answer is given as it is."""
RETRIED_STATUSES = frozenset({429, 502, 503, 504})

_random = SystemRandom()


def spread(pause: float) -> float:
    """A pause with jitter, so that many runs do not come back at the same moment."""
    return pause * _random.uniform(1 - JITTER, 1 + JITTER)


def pause_after(status: int, headers: Mapping[str, str], pause: float) -> float | None:
    """Seconds to wait before asking again after an answer; None when it is to be taken as it is."""
    if status not in RETRIED_STATUSES:
        return None
    asked = retry_after(headers.get("retry-after", ""))
    if asked is None:
        return spread(pause)
    return None if asked > MAX_RETRY_AFTER else max(asked, spread(pause))


def retry_after(value: str) -> float | None:
    """Seconds that a `Retry-After` header asks for: a number or an HTTP date; None when it says neither."""
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
