"""What the offline builder says. It never pretends to be a language model."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.choices import offered
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.graph.names import listed

NAME = "offline builder"


def quoted(parts: Sequence[str]) -> str:
    """`'a', 'b' and 2 more`."""
    return listed([f"'{part}'" for part in parts], most=6)


def refusal(reason: str, near: Sequence[str], language: Language) -> str:
    """An honest no, with what is possible near the request, or an example where nothing is."""
    lines = "\n".join(f"- {example}" for example in offered(near, language))
    title = message("nearest" if near else "for_example", language, name=NAME)
    return message("refusal", language, reason=reason, title=title, examples=lines)


def needs_model(part: str, language: Language) -> str:
    """A part of the request takes a language model; nothing was built."""
    return message("needs_model", language, part=part, connect=message("connect", language))


def signed(text: str, language: Language) -> str:
    """Every answer says who gives it."""
    if NAME in text or "offlinebyggaren" in text:
        return text
    by = message("signature", language)
    return f"{text}\n\n({by})"
