"""Answers the assistant's question what a request is, beside a scripted conversation."""

import json
from dataclasses import dataclass, field

from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Script

MARK = "off_topic"
"""Stands in every such question, whichever way an answer is asked for."""


@dataclass
class IntentAnswers:
    """Says that every request has one intent; such questions are kept apart from what else the server is asked."""

    server: OpenAIServer | AnthropicServer
    intent: str = "build_flow"
    translation: str = "translated"
    raw: str | None = None
    """The whole answer, instead of the JSON that is asked for."""
    tokens: tuple[int, int] = (60, 12)
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.sort = self._sort

    def _sort(self, asked: Asked) -> Script | None:
        if not is_classification(asked):
            return None
        self.asked.append(self.server.asked.pop())
        said = self.raw
        if said is None:
            said = json.dumps({"translation": self.translation, "intent": self.intent})
        return self.server.text(said, tokens=self.tokens)


def is_classification(asked: Asked) -> bool:
    """Whether a request asks what a person's request is."""
    body = asked.body if isinstance(asked.body, dict) else {}
    leading = [message for message in body.get("messages", ()) if message.get("role") in {"system", "developer"}]
    return MARK in json.dumps([leading, body.get("system")])
