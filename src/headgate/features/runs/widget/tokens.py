"""What a visitor holds: tokens sealed with the installation's key, so that nothing of visitors is stored.

Each says what it is for: a visit, a file that the visit uploaded, a run that it started, a file that a run made.
"""

import time
from collections.abc import Mapping

import orjson
from pydantic import SecretStr

from headgate.features.runs.widget.errors import WidgetRefused
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import HeadgateError

VISIT_SECONDS = 12 * 3600
LONGEST = 2_000


def seal(box: SecretBox, kind: str, **members: str) -> str:
    """A token that only this installation makes and reads."""
    told = {"kind": f"widget.{kind}", "at": int(time.time()), **members}
    return box.encrypt(SecretStr(orjson.dumps(told).decode())).decode()


def unseal(box: SecretBox, kind: str, token: str, **expected: str) -> Mapping[str, str]:
    """What a token of that kind says. Raises `WidgetRefused` for any other, for an old one, and for another visit's."""
    if not token or len(token) > LONGEST or not token.isascii():
        raise WidgetRefused
    try:
        told = orjson.loads(box.decrypt(token.encode()).get_secret_value())
    except (HeadgateError, ValueError):
        raise WidgetRefused from None
    wanted = {"kind": f"widget.{kind}", **expected}
    if not isinstance(told, dict) or any(told.get(name) != value for name, value in wanted.items()):
        raise WidgetRefused
    made_at = told.get("at")
    if not isinstance(made_at, int) or made_at + VISIT_SECONDS < time.time():
        raise WidgetRefused
    return {name: str(value) for name, value in told.items()}
