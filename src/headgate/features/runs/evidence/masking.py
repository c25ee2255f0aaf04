"""What is left out of evidence: secrets, and answers that the flow's form marks as private. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from headgate.foundation.log import redact, redact_text
from headgate.foundation.secret_values import SecretValues

SHORTEST_ANSWER = 3


class Mask:
    """Takes secrets and private answers out of values.

    Args:
        secrets: Values of the tenant's secret variables.
        answers: Private answers by field, as they were given.
    """

    def __init__(self, secrets: Iterable[str], answers: Mapping[str, Any]) -> None:
        self._secrets = SecretValues()
        for secret in secrets:
            self._secrets.add(secret)
        words: dict[str, str] = {}
        for field, answer in answers.items():
            for text in _texts(answer):
                if len(text) >= SHORTEST_ANSWER:
                    words.setdefault(text, f"[private: {field}]")
        self._words = sorted(words.items(), key=lambda pair: (-len(pair[0]), pair[0]))

    def text(self, value: str) -> str:
        """A text without what looks like a key, without stored secrets and without private answers."""
        value = self._secrets.text(value)
        for word, shown in self._words:
            if word in value:
                value = value.replace(word, shown)
        return redact_text(value)

    def content(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Business data: every text of it, whatever its member is called."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.content(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.content(item) for item in value]
        return value

    def technical(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Parameters, headers and tool arguments: what is called a key or token goes too."""
        return self.content(redact(value))


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [str(value)]
    items = value.values() if isinstance(value, Mapping) else value
    return [text for item in items for text in _texts(item)]
