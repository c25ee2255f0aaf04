"""The parts that a text can be cut into, and how each is cut."""

from dataclasses import dataclass

from headgate.agents.assistant.offline.language.files import LANGUAGES, Language, values


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a text: its names, the column that its parts are put into, and how they are cut."""

    key: str
    english: tuple[str, str]
    swedish: tuple[str, str]
    split: str = ""
    """What `SplitText` calls it; empty: `pattern` finds the parts."""
    pattern: str = ""

    def name(self, language: str) -> str:
        """Its name in the plural."""
        return (self.swedish if language == "sv" else self.english)[1]


LINE = Unit("line", ("line", "lines"), ("rad", "rader"), split="line")
SENTENCE = Unit("sentence", ("sentence", "sentences"), ("mening", "meningar"), split="sentence")
PARAGRAPH = Unit("paragraph", ("paragraph", "paragraphs"), ("stycke", "stycken"), split="paragraph")
WORD = Unit("word", ("word", "words"), ("ord", "ord"), pattern=r"[\pL\pN]+(?:['’-][\pL\pN]+)*")
CHARACTER = Unit("character", ("character", "characters"), ("tecken", "tecken"), pattern=r"(?s).")
UNITS = (LINE, SENTENCE, PARAGRAPH, WORD, CHARACTER)
_MORE = {
    "en": {"letters and signs": CHARACTER, "signs": CHARACTER, "chars": CHARACTER, "char": CHARACTER},
    "sv": {"raderna": LINE, "raden": LINE, "meningarna": SENTENCE, "meningen": SENTENCE, "styckena": PARAGRAPH,
           "orden": WORD, "ordet": WORD, "tecknen": CHARACTER, "stycke": PARAGRAPH},
}  # fmt: skip
BY_NAME: dict[str, dict[str, Unit]] = {
    "en": {name: unit for unit in UNITS for name in unit.english} | _MORE["en"],
    "sv": {name: unit for unit in UNITS for name in unit.swedish} | _MORE["sv"],
}
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}
DURATIONS: dict[Language, dict[str, int]] = {
    language: {word: seconds for name, seconds in _SECONDS.items() for word in values(name)[language]}
    for language in LANGUAGES
}
"""Words for units of time, and their seconds."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time as it was said."""

    number: float
    unit: str
    seconds: float

    def describe(self, _language: str) -> str:
        """The number and the unit."""
        return f"{self.number} {self.unit}"
