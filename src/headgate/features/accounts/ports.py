"""What signing in, and knowing who asks, need from elsewhere."""

from enum import StrEnum
from typing import Protocol


class Scope(StrEnum):
    """What is counted when somebody asks, or proves who they are. The value names it in the store of counts."""

    API_KEY = "api.key"
    """Requests with one API key."""
    API_PERSON = "api.person"
    """Requests in the sessions of one person."""
    API_ADDRESS = "api.address"
    """Requests from one network address that came with nothing valid."""
    SIGN_IN_ACCOUNT_ADDRESS = "sign_in.account_address"
    """Tries for one e-mail address from one network address: somebody guessing a password."""
    SIGN_IN_ADDRESS = "sign_in.address"
    """Tries from one network address: somebody trying many people. An office may share one."""
    SIGN_IN_ACCOUNT = "sign_in.account"
    """Tries for one e-mail address from anywhere: many machines guessing. Its bound is the highest."""
    LINK_ADDRESS = "link.address"
    """Tries to use a one-time link from one network address."""
    WIDGET_ADDRESS = "widget.address"
    """Runs and uploads of visitors of one flow's widget from one network address."""
    WIDGET_ASKED = "widget.asked"
    """Whatever visitors of widgets ask for from one network address: frames, results, files."""
    WIDGET_FLOW = "widget.flow"
    """Runs and uploads of one flow's widget from anywhere."""
    PASSWORD_USER = "password.user"  # noqa: S105 - the name of a count
    """Tries of a person who is signed in to say their present password."""

    SECOND_FACTOR_USER = "second_factor.user"
    """Tries of codes for one user, and confirmations of their sessions, from anywhere."""
    PROVIDER_TEST = "provider.test"
    """Tests of model providers by one person."""


class Throttle(Protocol):
    """Counts tries."""

    async def allow(self, scope: str, key: str) -> None:
        """Count one more. Raises `RateLimited` with `retry_after_seconds` when there were too many."""
        ...
