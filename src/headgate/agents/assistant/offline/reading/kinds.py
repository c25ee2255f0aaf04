"""What can be found in a text by its form: email addresses, dates, personal identity numbers."""

from dataclasses import dataclass

from headgate.agents.assistant.offline.language.files import entries


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that has a form: its pattern (RE2), its names in a request, and an example of it."""

    key: str
    pattern: str
    example: str
    english: tuple[str, ...]
    swedish: tuple[str, ...]

    def name(self, language: str) -> str:
        """Its name in the plural."""
        return (self.swedish if language == "sv" else self.english)[0]


KINDS: tuple[Kind, ...] = tuple(
    Kind(key, pattern, example, tuple(english.split(", ")), tuple(swedish.split(", ")))
    for key, (pattern, example, english, swedish) in entries("both", "kinds")
)
BY_NAME: dict[str, dict[str, Kind]] = {
    "en": {name: kind for kind in KINDS for name in kind.english},
    "sv": {name: kind for kind in KINDS for name in kind.swedish},
}
