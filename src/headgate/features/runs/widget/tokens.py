"""Tokens of visitors, sealed with the installation's key, so that nothing about visitors is stored.

Each names its purpose: a visit, a file that the visit uploaded, a run that it started, a file that a run created.
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


def seal(secret_box: SecretBox, kind: str, **members: str) -> str:
    """Return a token that only this installation can create and read."""
    content = {"kind": f"widget.{kind}", "at": int(time.time()), **members}
    return secret_box.encrypt(SecretStr(orjson.dumps(content).decode())).decode()


def unseal(secret_box: SecretBox, kind: str, token: str, **expected: str) -> Mapping[str, str]:
    """Return the content of a token of that kind. Raises `WidgetRefused` for any other, expired or foreign token."""
    if not token or len(token) > LONGEST or not token.isascii():
        raise WidgetRefused
    try:
        content = orjson.loads(secret_box.decrypt(token.encode()).get_secret_value())
    except (HeadgateError, ValueError):
        raise WidgetRefused from None
    required = {"kind": f"widget.{kind}", **expected}
    if not isinstance(content, dict) or any(content.get(name) != value for name, value in required.items()):
        raise WidgetRefused
    made_at = content.get("at")
    if not isinstance(made_at, int) or made_at + VISIT_SECONDS < time.time():
        raise WidgetRefused
    return {name: str(value) for name, value in content.items()}
