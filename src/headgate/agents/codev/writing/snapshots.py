"""Flows as the journal keeps them: encrypted, since a flow of another place may hold a secret in the clear."""

from dataclasses import asdict
from typing import Any

import orjson
from pydantic import SecretStr

from headgate.agents.codev.domain import Change, Held
from headgate.foundation.crypto import SecretBox


def seal_held(box: SecretBox, held: Held) -> str:
    """A flow as it was, to be kept."""
    return _seal(box, asdict(held))


def open_held(box: SecretBox, sealed: str) -> Held:
    """The flow again. Raises `Unavailable` when the key is not the one that sealed it."""
    return Held(**orjson.loads(box.decrypt(sealed.encode()).get_secret_value()))


def seal_change(box: SecretBox, change: Change) -> str:
    """A change, to be kept."""
    return _seal(box, asdict(change))


def open_change(box: SecretBox, sealed: str) -> Change:
    """The change again. Raises `Unavailable` when the key is not the one that sealed it."""
    return Change(**orjson.loads(box.decrypt(sealed.encode()).get_secret_value()))


def restoring(held: Held) -> Change:
    """The change that makes a flow what it was."""
    return Change(
        definition=held.definition, summary="Rolled back to its previous state.", name=held.name, about=held.about
    )


def _seal(box: SecretBox, value: dict[str, Any]) -> str:
    return box.encrypt(SecretStr(orjson.dumps(value).decode())).decode()
