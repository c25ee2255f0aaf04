"""Settings of rate limits."""

from pydantic import BaseModel, Field, SecretStr


class RateLimitSettings(BaseModel, defer_build=True):
    """How often people, API keys and addresses may ask. Nothing of this counts for the local user of auto-login."""

    api_per_minute: int = Field(
        default=1200, ge=0, description="Requests per minute of one API key, and of one signed-in user; 0: no limit."
    )
    address_per_minute: int = Field(
        default=60,
        ge=0,
        description=(
            "Requests per minute of one address with missing or wrong credentials; 0: no limit. An "
            "IPv6 address counts with its /64 network."
        ),
    )
    sign_in_per_minute: int = Field(
        default=5,
        ge=1,
        description=(
            "Sign-in attempts per minute for one user from one address. The limit is ten times as "
            "high for one address and all users, and twenty times for one user from all addresses."
        ),
    )
    widget_per_minute: int = Field(
        default=20,
        ge=0,
        description=(
            "Runs and uploads per minute by visitors of one flow's widget from one address, also "
            "with auto-login. For all addresses together the limit is ten times as high. For "
            "requests of any kind to all widgets, it is thirty times as high per address; 0: no "
            "limit."
        ),
    )
    widget_open: int = Field(
        default=20,
        ge=0,
        description=(
            "Concurrent open responses of widgets to one address on one server: result streams and "
            "file transfers. For all visitors together the limit is ten times as high; 0: no limit."
        ),
    )
    redis_url: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "Redis database in which all servers of an installation count. Empty: with the engine "
            "`celery` that of live events, otherwise each server counts locally."
        ),
    )
