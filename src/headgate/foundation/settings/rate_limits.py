"""Settings of rate limits."""

from pydantic import BaseModel, Field, SecretStr


class RateLimitSettings(BaseModel, defer_build=True):
    """How often people, API keys and addresses may ask. Nothing of this counts for the local user of auto-login."""

    api_per_minute: int = Field(
        default=1200, ge=0, description="Requests a minute of one API key, and of one signed-in person; 0: no limit."
    )
    address_per_minute: int = Field(
        default=60,
        ge=0,
        description="Requests a minute of one address that come with no credentials or wrong ones; 0: no limit. An "
        "IPv6 address counts with all of its /64 network.",
    )
    sign_in_per_minute: int = Field(
        default=5,
        ge=1,
        description="Tries a minute to sign in as one person from one address. From one address for anybody it is ten "
        "times as many, for one person from anywhere twenty times.",
    )
    widget_per_minute: int = Field(
        default=20,
        ge=0,
        description="Runs and uploads a minute of visitors of one flow's widget from one address, with auto-login too. "
        "From everywhere it is ten times as many. Of requests of any kind, to all widgets, one address has thirty "
        "times as many; 0: no limit.",
    )
    widget_open: int = Field(
        default=20,
        ge=0,
        description="Answers of widgets that are open to one address at once on one server: results that are told, "
        "files that come or go. To everybody together it is ten times as many; 0: no limit.",
    )
    redis_url: SecretStr = Field(
        default=SecretStr(""),
        description="Redis database that all servers of an installation count in. Empty: with the engine `celery` that "
        "of live events, else each server counts for itself.",
    )
