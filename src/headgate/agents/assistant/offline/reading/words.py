"""Words with a value: adjectives that order, functions, ordinals, signs, and words that are never a name."""

from dataclasses import dataclass

from headgate.agents.assistant.offline.language.files import LANGUAGES, Language, pairs, values
from headgate.agents.assistant.offline.language.messages import message


@dataclass(frozen=True, slots=True)
class Order:
    """A direction to sort in; with columns, which of them are meant by an adjective such as `cheapest`."""

    descending: bool
    columns: tuple[str, ...] = ()

    def describe(self, language: Language) -> str:
        """The direction in words."""
        direction = message("largest_first" if self.descending else "smallest_first", language)
        column = f"'{self.columns[0]}', " if len(self.columns) == 1 else ""
        return column + direction


def _adjectives(language: Language) -> dict[str, Order]:
    """`least price/cost.en: cheapest`: the adjective, its direction and the columns that may be meant."""
    orders: dict[str, Order] = {}
    for key, words in pairs("both", "values"):
        direction, _, columns = key.removesuffix(f".{language}").partition(" ")
        if columns and key.endswith(f".{language}"):
            orders |= dict.fromkeys(words.split(", "), Order(direction == "most", tuple(columns.split("/"))))
    return orders


ADJECTIVES: dict[Language, dict[str, Order]] = {language: _adjectives(language) for language in LANGUAGES}
FUNCTIONS: dict[Language, dict[str, str]] = {
    language: {word: name for name in ("avg", "sum", "max", "min") for word in values(name)[language]}
    for language in LANGUAGES
}
ORDINALS = {word: number for words in values("ordinals").values() for number, word in enumerate(words, start=2)}
RESERVED = frozenset((*dict(pairs("both", "values"))["reserved"].split(", "), ",", ";"))
"""Words that are never a name or a value unless they are quoted: a negation must not become a part of a name."""

SIGNS = {
    "comma": ",", "commas": ",", "semicolon": ";", "semicolons": ";", "tab": "\t", "tabs": "\t", "space": " ", "spaces": " ",  # noqa: E501
    "colon": ":", "colons": ":", "slash": "/", "slashes": "/", "dash": "-", "dashes": "-", "pipe": "|", "pipes": "|",
    "komma": ",", "kommatecken": ",", "semikolon": ";", "blanksteg": " ", "mellanslag": " ", "kolon": ":", "streck": "-",  # noqa: E501
    "newline": "\n", "newlines": "\n", "dot": ".", "dots": ".",
}  # fmt: skip
"""Signs by their names."""
