"""What the offline builder says, in the language of the request."""

from functools import lru_cache

from headgate.agents.assistant.offline.language.files import pairs
from headgate.agents.assistant.offline.language.languages import Language


@lru_cache(maxsize=2)
def _texts(language: Language) -> dict[str, str]:
    return dict(pairs(language, "messages"))


def known(key: str, language: Language) -> bool:
    """Whether there is a text with that key."""
    return key in _texts(language)


def message(key: str, language: Language, /, **values: object) -> str:
    """A text of `messages.txt` with its values. Raises `KeyError` for one that a language lacks."""
    return _texts(language)[key].replace("\\n", "\n").format(**values)
