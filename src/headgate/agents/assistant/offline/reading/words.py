"""Words with a value: adjectives that order, functions, ordinals, signs, and words that are never a name."""

from dataclasses import dataclass

from headgate.agents.assistant.offline.language.languages import Language
from headgate.features.catalog.words import word_set


@dataclass(frozen=True, slots=True)
class Order:
    """A direction to sort in; with columns, which of them are meant by an adjective such as `cheapest`."""

    descending: bool
    columns: tuple[str, ...] = ()

    def say(self, language: Language) -> str:
        """The direction in words."""
        words = {"en": ("smallest first", "largest first"), "sv": ("minst först", "störst först")}[language]
        column = f"'{self.columns[0]}', " if len(self.columns) == 1 else ""
        return column + words[self.descending]


_PRICE = ("price", "cost", "amount", "pris", "kostnad", "belopp")
_AGE = ("age", "ålder")
_SIZE = ("size", "size_bytes", "amount", "total", "storlek", "belopp", "antal")
_DATE = ("date", "created", "updated", "datum", "skapad")
ADJECTIVES: dict[Language, dict[str, Order]] = {
    "en": {
        "cheapest": Order(False, _PRICE), "most expensive": Order(True, _PRICE), "dearest": Order(True, _PRICE),  # noqa: FBT003
        "priciest": Order(True, _PRICE), "least expensive": Order(False, _PRICE), "youngest": Order(False, _AGE),  # noqa: FBT003
        "oldest": Order(True, _AGE), "biggest": Order(True, _SIZE), "largest": Order(True, _SIZE),  # noqa: FBT003
        "heaviest": Order(True, _SIZE), "smallest": Order(False, _SIZE), "newest": Order(True, _DATE),  # noqa: FBT003
        "latest": Order(True, _DATE), "most recent": Order(True, _DATE), "earliest": Order(False, _DATE),  # noqa: FBT003
        "best paid": Order(True, ("salary", "pay", "wage")), "lowest paid": Order(False, ("salary", "pay", "wage")),  # noqa: FBT003
    },
    "sv": {
        "billigaste": Order(False, _PRICE), "dyraste": Order(True, _PRICE), "yngsta": Order(False, _AGE),  # noqa: FBT003
        "äldsta": Order(True, _AGE), "största": Order(True, _SIZE), "minsta": Order(False, _SIZE),  # noqa: FBT003
        "senaste": Order(True, _DATE), "nyaste": Order(True, _DATE),  # noqa: FBT003
    },
}  # fmt: skip
FUNCTIONS: dict[Language, dict[str, str]] = {
    "en": {
        "average": "avg", "mean": "avg", "avg": "avg", "sum": "sum", "total": "sum", "maximum": "max", "max": "max",
        "highest": "max", "largest": "max", "greatest": "max", "biggest": "max", "minimum": "min", "min": "min",
        "lowest": "min", "smallest": "min", "latest": "max", "earliest": "min",
    },
    "sv": {
        "medelvärde": "avg", "medelvärdet": "avg", "genomsnitt": "avg", "genomsnittet": "avg", "genomsnittlig": "avg",
        "genomsnittliga": "avg", "snittet": "avg", "summan": "sum", "summa": "sum", "totalen": "sum", "total": "sum", "totala": "sum",  # noqa: E501
        "högsta": "max", "största": "max", "maximum": "max", "lägsta": "min", "minsta": "min", "minimum": "min",
        "dyraste": "max", "billigaste": "min",
    },
}  # fmt: skip
ORDINALS = {
    "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "andra": 2, "tredje": 3, "fjärde": 4, "femte": 5, "sjätte": 6, "sjunde": 7, "åttonde": 8, "nionde": 9, "tionde": 10,
}  # fmt: skip

RESERVED = word_set(
    "and or not no but except than that which who whose where with without from in on of for by per each every if "
    "otherwise else then only just at most least over under above below between after before is are was were has have "
    "contains contain containing equals empty missing first last all it them its their they as to into save show sort "
    "keep drop remove delete count sum average unless when because instead everything anything nothing never none "
    "och eller inte ur finns occur occurs appear appears there it descending ascending desc asc alphabetically fallande stigande ingen inga men utom utan än som där med från i på av för per varje om annars sedan bara endast högst "  # noqa: E501
    "minst över under mellan efter före är var har innehåller tom första sista alla den det dem de till spara visa sortera "  # noqa: E501
    "behåll räkna när istället allt inget aldrig don't doesn't isn't aren't do does did , ; should would more less "
    "yet already ännu redan "
    "highest lowest largest smallest högst lägst högsta lägsta"
)
"""Words that are never a name or a value unless they are quoted: a negation must not become a part of a name."""

SIGNS = {
    "comma": ",", "commas": ",", "semicolon": ";", "semicolons": ";", "tab": "\t", "tabs": "\t", "space": " ", "spaces": " ",  # noqa: E501
    "colon": ":", "colons": ":", "slash": "/", "slashes": "/", "dash": "-", "dashes": "-", "pipe": "|", "pipes": "|",
    "komma": ",", "kommatecken": ",", "semikolon": ";", "blanksteg": " ", "mellanslag": " ", "kolon": ":", "streck": "-",  # noqa: E501
    "newline": "\n", "newlines": "\n", "dot": ".", "dots": ".",
}  # fmt: skip
"""Signs by their names."""
