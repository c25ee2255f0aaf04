"""Where a step's output goes, and as what: worked out when the step is done, sealed, opened when it is sent."""

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
"""The body of a call that names none: the step's output is sent as it is."""
NOT_AN_ADDRESS = "(not a web address)"


class Header(BaseModel):
    """A header: its text with `{{...}}` resolved, or the secret that the saved flow refers to."""

    model_config = ConfigDict(frozen=True)

    name: str
    text: str = ""
    secret: SavedSecret | None = None


class Target(BaseModel):
    """An address with its headers; a body only where the step has one of its own."""

    model_config = ConfigDict(frozen=True)

    url: str
    headers: tuple[Header, ...] = ()
    body: str | None = None
    as_json: bool = False
    """Whether the output is JSON although it is kept as text."""
    timeout_seconds: float = 30.0


def resolve_target(call: HttpCall, context: Mapping[str, JsonValue], *, as_json: bool) -> Target:
    """The target with every `{{...}}` put in. What does not resolve stays as it was written."""
    return Target(
        url=interpolate(call.url, context).strip(),
        headers=tuple(_header(name, value, context) for name, value in call.headers.items()),
        body=None if call.body == NO_BODY else interpolate(call.body, context, json_safe=True),
        as_json=as_json,
        timeout_seconds=call.timeout_seconds,
    )


def seal_delivery(target: Target, box: SecretBox, *, run_id: str, step_id: str) -> Delivery:
    """The row's values. The address is shown without path and query: they may hold a secret of the receiver's."""
    try:
        shown = shown_url(target.url)
    except HeadgateError:  # told when it is sent: a paid result does not fail for it
        shown = NOT_AN_ADDRESS
    sealed = box.encrypt(SecretStr(target.model_dump_json()))
    return Delivery(new_id(), sealed, shown, delivery_key(run_id, step_id))


def open_target(sealed: bytes, box: SecretBox) -> Target:
    """The target again. Raises `Unavailable` when the key is not the one that sealed it."""
    return Target.model_validate_json(box.decrypt(sealed).get_secret_value())


def _header(name: str, value: str | SecretReference, context: Mapping[str, JsonValue]) -> Header:
    if isinstance(value, SecretReference):
        return Header(name=name, secret=value)
    return Header(name=name, text=interpolate(value, context))
