"""Fields that the components for HTTP requests share."""

from typing import Any

from headgate.components.web.http_headers import HEADERS_HELP, KEY_HELP, KEY_LABEL
from headgate.sdk import HTTP_KINDS, field


def address_field(**more: Any) -> Any:  # noqa: ANN401 - as `field`
    """Return the field `url`."""
    return field(
        label="Address",
        help="https://..., or with a connection a path such as /contacts.",
        main=True,
        max_length=8_000,
        syntax="url",
        **more,
    )


def connection_field(text: str, **more: Any) -> Any:  # noqa: ANN401
    """Return the field `connection`, of a kind whose credential is added to requests."""
    return field(label="Connection", help=text, connection_kinds=HTTP_KINDS, **more)


def query_field() -> Any:  # noqa: ANN401
    """Return the field `query`."""
    return field(
        default_factory=dict, label="Query", help="Query parameters, name to value; null omits one.", port=False
    )


def headers_field() -> Any:  # noqa: ANN401
    """Return the field `headers`."""
    return field(default_factory=dict, label="Headers", help=HEADERS_HELP, port=False)


def key_field() -> Any:  # noqa: ANN401
    """Return the field `idempotency_key`."""
    return field(default=True, label=KEY_LABEL, help=KEY_HELP, port=False, advanced=True)


def timeout_field(text: str = "Maximum wait in seconds.") -> Any:  # noqa: ANN401
    """Return the field `timeout_seconds`."""
    return field(default=30.0, label="Time limit", help=text, ge=0.1, le=300, advanced=True)
