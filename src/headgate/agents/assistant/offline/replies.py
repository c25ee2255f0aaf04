"""What the offline builder says. It never pretends to be a language model."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.choices import offered
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.graph.names import listed

NAME = "offline builder"
CONNECT = {
    "en": "Connect a language model to do that: in Settings, under Models, or in a terminal"
    " (`headgate variables set OPENAI_API_KEY` sets a key, `headgate models pull` fetches a model that needs none).",
    "sv": "Anslut en språkmodell för det: i Inställningar, under Modeller, eller i en terminal"
    " (`headgate variables set OPENAI_API_KEY` sätter en nyckel, `headgate models pull` hämtar en modell som inte behöver någon).",  # noqa: E501
}


def quoted(parts: Sequence[str]) -> str:
    """`'a', 'b' and 2 more`."""
    return listed([f"'{part}'" for part in parts], most=6)


def refusal(reason: str, near: Sequence[str], language: Language) -> str:
    """An honest no, with what is possible near the request, or an example where nothing is."""
    lines = "\n".join(f"- {example}" for example in offered(near, language))
    title = message("nearest" if near else "for_example", language, name=NAME)
    if language == "sv":
        return f"Jag kan inte göra det utan språkmodell: {reason} Inget har byggts.\n\n{title}\n{lines}"
    return f"I cannot do that offline: {reason} Nothing was built.\n\n{title}\n{lines}"


def needs_model(part: str, language: Language) -> str:
    """A part of the request takes a language model; nothing was built."""
    if language == "sv":
        return f"'{part}' kräver en språkmodell, och ingen är ansluten. Jag har inte byggt något.\n\n{CONNECT['sv']}"
    return (
        f"'{part}' needs a language model, and none is connected. I am the {NAME} and built nothing.\n\n{CONNECT['en']}"
    )


def signed(text: str, language: Language) -> str:
    """Every answer says who gives it."""
    if NAME in text or "offlinebyggaren" in text:
        return text
    by = message("signature", language)
    return f"{text}\n\n({by})"
