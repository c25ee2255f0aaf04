"""Calls that a step makes outside and that are made once: how they are identified, and what answers them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from pydantic import BaseModel, JsonValue

CallKind = Literal["model", "tool", "value"]
REPLAYED = "headgate_replayed"
"""Member of a message's `response_metadata`: an earlier attempt at the step had the answer, and paid for it."""
_TYPES = {"AIMessageChunk": "ai", "HumanMessageChunk": "human", "SystemMessageChunk": "system"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, by what identifies it."""

    kind: CallKind
    name: str
    """The model or the tool, as people know it."""
    digest: str
    """SHA-256 of the request."""

    @classmethod
    def of(cls, kind: CallKind, name: str, request: Mapping[str, Any]) -> "Asked":
        """The request with these members; what is not JSON counts by its JSON schema, or else by its `repr`."""
        content = orjson.dumps([kind, name, request], default=_plain, option=orjson.OPT_SORT_KEYS | _LENIENT)
        return cls(kind, name, hashlib.sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered with."""

    value: JsonValue
    replayed: bool = False
    """Whether an earlier attempt at the step had made the call."""


def messages_as_sent(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """LangChain messages by what a model reads of them, without the ids that each process makes anew."""
    return [
        {
            "type": _TYPES.get(message.type, message.type),
            "content": message.content,
            "name": message.name,
            "tool_calls": [
                {"name": call["name"], "args": call["args"], "id": call["id"]}
                for call in getattr(message, "tool_calls", None) or ()
            ],
            "tool_call_id": getattr(message, "tool_call_id", None),
        }
        for message in messages
    ]


_LENIENT = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a library passes along
    if isinstance(value, type) and issubclass(value, BaseModel):
        return value.model_json_schema()
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else repr(value)
