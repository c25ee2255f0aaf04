"""Parsed responses of a Flowise server; unused parts are dropped on input."""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from headgate.agents.codev.domains.flowise.quoting import NAME, one_line

CHATFLOW_ID = re.compile(r"[A-Za-z0-9-]{1,100}", re.ASCII)
_ABOUT = frozenset(
    {"text", "question", "chatId", "chatMessageId", "isStreamValid", "sessionId", "memoryType", "followUpPrompts"}
    | {"executionId", "agentFlowExecutedData", "flowVariables", "metrics"}
)
"""Members of a prediction that are Flowise's own; an object that a function returns is next to them."""


@dataclass(frozen=True, slots=True)
class Chatflow:
    """A stored chatflow."""

    id: str
    name: str
    type: str
    flow_data: str = field(repr=False)
    """JSON text as stored by the server; it may contain a plaintext secret."""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class StoredCredential:
    """A credential without its values, which are never requested."""

    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class CredentialSchema:
    """The fields of a credential type."""

    type: str
    label: str
    fields: tuple[dict[str, Any], ...]
    """`name`, `label`, `type`, `optional`, `default`."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer of a chatflow."""

    text: str
    id: str = ""
    """Of the execution, or of the message."""
    input_tokens: int = 0
    output_tokens: int = 0


def objects(value: Any, most: int) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON of a server
    """Return the objects of a list, at most `most`; empty for a non-list."""
    return [row for row in value[:most] if isinstance(row, dict)] if isinstance(value, list) else []


def chatflow_of(row: dict[str, Any]) -> Chatflow | None:
    """Return a row of the server; None for an invalid one."""
    identity, data = row.get("id"), row.get("flowData")
    if not isinstance(identity, str) or not CHATFLOW_ID.fullmatch(identity):
        return None
    return Chatflow(
        id=identity,
        name=one_line(row.get("name"), 300),
        type=one_line(row.get("type"), 40) or "CHATFLOW",
        flow_data=data if isinstance(data, str) else "",
        updated=one_line(row.get("updatedDate"), 40),
    )


def credential_of(row: dict[str, Any]) -> StoredCredential | None:
    """Return a row of the server; None for an invalid one."""
    identity, type_ = row.get("id"), row.get("credentialName")
    if not isinstance(identity, str) or not isinstance(type_, str) or not NAME.fullmatch(type_):
        return None
    return StoredCredential(one_line(identity, 100), one_line(row.get("name"), 200), type_)


def credential_schema_of(row: dict[str, Any]) -> CredentialSchema | None:
    """Return a component of the server; None for an invalid one."""
    name = row.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return None
    fields = tuple(
        input_row for input_row in objects(row.get("inputs"), 40) if NAME.fullmatch(str(input_row.get("name")))
    )
    return CredentialSchema(name, one_line(row.get("label"), 100) or name, fields)


def prediction_of(answer: dict[str, Any]) -> Prediction | None:
    """Return the answer of a prediction, as Flowise's own chat shows it; None if it is empty."""
    text = _answered(answer)
    if text is None:
        return None
    executed = objects(answer.get("agentFlowExecutedData"), 500)
    used = [_usage(step) for step in executed]
    return Prediction(
        text=text,
        id=one_line(answer.get("executionId") or answer.get("chatMessageId"), 100),
        input_tokens=sum(usage[0] for usage in used),
        output_tokens=sum(usage[1] for usage in used),
    )


def _answered(answer: dict[str, Any]) -> str | None:
    content = answer.get("text")
    if isinstance(content, str):
        return content
    if content is None:
        content = answer.get("json") or {name: value for name, value in answer.items() if name not in _ABOUT}
    try:
        return orjson.dumps(content).decode() if content not in ({}, []) else None
    except TypeError:  # nested deeper than it is written
        return None


def _usage(step: dict[str, Any]) -> tuple[int, int]:
    value: Any = step
    for member in ("data", "output", "usageMetadata"):
        value = value.get(member) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return 0, 0
    counts = [value.get(name) for name in ("input_tokens", "output_tokens")]
    given, made = (count if type(count) is int and 0 <= count < 10**9 else 0 for count in counts)
    return given, made
