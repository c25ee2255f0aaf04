"""Errors of quotas."""

from headgate.foundation.errors import Invalid, RateLimited


class QuotaExceeded(RateLimited):
    """A quota is used up. Carries `quota`, `scope`, `used`, `most`, `resets_at` and `retry_after_seconds`."""

    code = "quota_exceeded"
    title = "Limit reached"


class QuotaInvalid(Invalid):
    """The limit is invalid."""

    code = "quota_invalid"
    title = "Invalid limit"
