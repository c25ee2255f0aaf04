"""The target of a delivery: resolved when the step is done, stored encrypted, decrypted when it is sent."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, JsonValue, SecretStr

from headgate.features.runs.transitions import Delivery
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import shown_url
from headgate.foundation.ids import new_id
from headgate.foundation.webhooks import delivery_key
from headgate.graph.interpolate import interpolate
from headgate.graph.model import HttpCall
from headgate.graph.secret_reference import SavedSecret, SecretReference

NO_BODY = HttpCall(url="").body
"""The body of a call without one: the step's output is sent as it is."""
NOT_AN_ADDRESS = "(not a URL)"


class Header(BaseModel):
    """A header: its text with `{{...}}` resolved, or the name of the secret that the saved flow refers to."""

    model_config = ConfigDict(frozen=True)

    name: str
    text: str = ""
    secret: SavedSecret | None = None


class Target(BaseModel):
    """URL and headers; a body only where the step configures one."""

    model_config = ConfigDict(frozen=True)

    url: str
    headers: tuple[Header, ...] = ()
    body: str | None = None
    as_json: bool = False
    """Whether the output is JSON although it is stored as text."""
    timeout_seconds: float = 30.0


def resolve_target(call: HttpCall, context: Mapping[str, JsonValue], *, as_json: bool) -> Target:
    """Return the target with every `{{...}}` resolved. Unresolvable ones stay as written."""
    return Target(
        url=interpolate(call.url, context).strip(),
        headers=tuple(_header(name, value, context) for name, value in call.headers.items()),
        body=None if call.body == NO_BODY else interpolate(call.body, context, json_safe=True),
        as_json=as_json,
        timeout_seconds=call.timeout_seconds,
    )


def seal_delivery(target: Target, secret_box: SecretBox, *, run_id: str, step_id: str) -> Delivery:
    """Return the column values of a delivery. The displayed URL omits path and query: they may contain a secret."""
    try:
        display_url = shown_url(target.url)
    except HeadgateError:  # reported when it is sent: it must not fail a paid result
        display_url = NOT_AN_ADDRESS
    sealed = secret_box.encrypt(SecretStr(target.model_dump_json()))
    return Delivery(new_id(), sealed, display_url, delivery_key(run_id, step_id))


def open_target(sealed: bytes, secret_box: SecretBox) -> Target:
    """Decrypt the target. Raises `Unavailable` when the key is not the one that encrypted it."""
    return Target.model_validate_json(secret_box.decrypt(sealed).get_secret_value())


def _header(name: str, value: str | SecretReference, context: Mapping[str, JsonValue]) -> Header:
    if isinstance(value, SecretReference):
        return Header(name=name, secret=value)
    return Header(name=name, text=interpolate(value, context))
