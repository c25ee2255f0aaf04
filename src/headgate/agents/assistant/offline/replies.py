"""What the offline builder says. It never pretends to be a language model."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.graph.names import listed

NAME = "offline builder"


def quoted(parts: Sequence[str]) -> str:
    """`'a', 'b' and 2 more`."""
    return listed([f"'{part}'" for part in parts], most=6)


def refusal(reason: str, examples: Sequence[str], language: Language) -> str:
    """An honest no, with what is possible near the request."""
    return message("refusal", language, reason=reason, examples="\n".join(f"- {example}" for example in examples))


def needs_model(part: str, language: Language) -> str:
    """A part of the request takes a language model; nothing was built."""
    return message("needs_model", language, part=part, connect=message("connect", language))


def signed(text: str, language: Language) -> str:
    """Every answer says who gives it."""
    if NAME in text or "offlinebyggaren" in text:
        return text
    by = message("signature", language)
    return f"{text}\n\n({by})"
