"""The stored form of a conversation's turns: encrypted when the user's tenant has a data key."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from headgate.agents.assistant.memory.conversation import SessionKey
from headgate.features.encryption.errors import ContentDestroyed
from headgate.foundation.sealing import DataKey, key_id_of

FindKey = Callable[[str, str], Awaitable[DataKey]]
"""A data key by organisation and id. Raises `ContentDestroyed`."""


def sealed_turns(turns: list[Any], key: SessionKey, data_key: DataKey | None) -> str:
    """Return the turns as text, encrypted when there is a key."""
    content = orjson.dumps(turns)
    return content.decode() if data_key is None else data_key.sealed(content, _place(key))


async def opened_turns(stored: str, key: SessionKey, find_key: FindKey) -> list[Any]:
    """The turns that are stored; none when the data key that encrypted them was destroyed. Raises `SealBroken`."""
    key_id = key_id_of(stored)
    content: str | bytes = stored
    if key_id:
        try:
            data_key = await find_key(key.tenant_id, key_id)
        except ContentDestroyed:
            return []
        content = data_key.opened(stored, _place(key))
    turns: list[Any] = orjson.loads(content)
    return turns


def _place(key: SessionKey) -> str:
    """What turns are bound to besides the organisation: they cannot be opened in another conversation."""
    return f"assistant_conversations/{key.user_id}/{key.session_id}/turns"
