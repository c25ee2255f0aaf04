"""Ports of sign-in and authentication."""

from enum import StrEnum
from typing import Protocol


class Scope(StrEnum):
    """What a rate limit counts. The value is part of the key in the store."""

    API_KEY = "api.key"
    """Requests with one API key."""
    API_PERSON = "api.person"
    """Requests in the sessions of one user."""
    API_ADDRESS = "api.address"
    """Requests from one network address without valid credentials."""
    SIGN_IN_ACCOUNT_ADDRESS = "sign_in.account_address"
    """Attempts for one e-mail address from one network address: password guessing."""
    SIGN_IN_ADDRESS = "sign_in.address"
    """Attempts from one network address: guessing for many users. An office may share one address."""
    SIGN_IN_ACCOUNT = "sign_in.account"
    """Attempts for one e-mail address from anywhere: distributed guessing. It has the highest limit."""
    LINK_ADDRESS = "link.address"
    """Attempts to use a one-time link from one network address."""
    WIDGET_ADDRESS = "widget.address"
    """Runs and uploads of visitors of one flow's widget from one network address."""
    WIDGET_ASKED = "widget.asked"
    """All requests of widget visitors from one network address: frames, results, files."""
    WIDGET_FLOW = "widget.flow"
    """Runs and uploads of one flow's widget from anywhere."""
    PASSWORD_USER = "password.user"  # noqa: S105 - the name of a count
    """Attempts of a signed-in user to enter the current password."""

    SECOND_FACTOR_USER = "second_factor.user"
    """Attempts to enter codes for one user, and confirmations of sessions, from anywhere."""
    TRIGGER = "trigger"
    """Calls at the public address of one trigger; the trigger has the limit."""
    PROVIDER_TEST = "provider.test"
    """Tests of model providers by one user."""


class Throttle(Protocol):
    """Counts attempts."""

    async def allow(self, scope: str, key: str, *, limit: int | None = None) -> None:
        """Count one attempt. Raises `RateLimited` with `retry_after_seconds` above the limit, or that of the scope."""
