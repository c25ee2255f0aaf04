"""Masks secrets, and answers that the flow's form marks as private, in evidence. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from headgate.foundation.log import redact, redact_text
from headgate.foundation.secret_values import SecretValues

SHORTEST_ANSWER = 3


class Mask:
    """Masks secrets and private answers in values.

    Args:
        secrets: Values of the tenant's secret variables.
        answers: Private answers by field.
    """

    def __init__(self, secrets: Iterable[str], answers: Mapping[str, Any]) -> None:
        self._secrets = SecretValues()
        for secret in secrets:
            self._secrets.add(secret)
        replacements: dict[str, str] = {}
        for field, value in answers.items():
            for text in _texts(value):
                if len(text) >= SHORTEST_ANSWER:
                    replacements.setdefault(text, f"[private: {field}]")
        self._words = sorted(replacements.items(), key=lambda pair: (-len(pair[0]), pair[0]))

    def text(self, value: str) -> str:
        """Return a text without key patterns, stored secrets and private answers."""
        value = self._secrets.text(value)
        for secret, replacement in self._words:
            if secret in value:
                value = value.replace(secret, replacement)
        return redact_text(value)

    def content(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Mask business data: every text in it, regardless of member names."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.content(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.content(item) for item in value]
        return value

    def technical(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Mask parameters, headers and tool arguments: members named like a key or token are removed as well."""
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
