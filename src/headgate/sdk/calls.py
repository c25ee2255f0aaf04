"""Outside calls of a step that are made only once: how a call is identified, and its result."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from pydantic import BaseModel, JsonValue

CallKind = Literal["model", "tool", "value"]
REPLAYED = "headgate_replayed"
"""Member of a message's `response_metadata`: the output is from an earlier attempt, which paid for it."""
_TYPES = {"AIMessageChunk": "ai", "HumanMessageChunk": "human", "SystemMessageChunk": "system"}


@dataclass(frozen=True, slots=True)
class CallRequest:
    """Identifies a call."""

    kind: CallKind
    name: str
    """Display name of the model or tool."""
    digest: str
    """SHA-256 of the request."""
    scope: str = ""
    """What has the same idempotency keys as the call: earlier attempts at the same item. Empty: the call alone."""

    @classmethod
    def of(cls, kind: CallKind, name: str, request: Mapping[str, Any], *, scope: str = "") -> "CallRequest":
        """The call with these arguments. Values that are not JSON are identified by JSON schema or `repr`."""
        content = orjson.dumps([kind, name, request], default=_plain, option=orjson.OPT_SORT_KEYS | _LENIENT)
        return cls(kind, name, hashlib.sha256(content).hexdigest(), scope)


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call."""

    value: JsonValue
    replayed: bool = False
    """Whether it is the stored result of an earlier attempt at the step."""


def messages_as_sent(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """Return LangChain messages as sent to the model, without the ids that LangChain generates per process."""
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


def _plain(value: Any) -> Any:  # noqa: ANN401 - any argument of a call
    if isinstance(value, type) and issubclass(value, BaseModel):
        return value.model_json_schema()
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else repr(value)
