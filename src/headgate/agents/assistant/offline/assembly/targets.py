"""How things are found in a text: RE2 patterns, names and what masks them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of thing that a pattern finds. `name` is singular and fit for a column name."""

    name: str
    plural: str
    pattern: str


_MONTHS = "(?:Jan|Feb|Mar|Apr|May|Maj|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec)[a-z]*"

TARGETS: dict[str, Target] = {
    "t.email": Target("email", "emails", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "t.url": Target("url", "links", r"https?://[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]"),
    "t.phone": Target("phone", "phone numbers", r"(?:\+\d|\b0|\(\d{2,4}\) ?\d|\b\d{3}[-. ]\d{3})[\d ().-]{4,}\d"),
    "t.blank": Target("blank line", "blank lines", r"(?m)^[ \t]*\n"),
    "t.number": Target("number", "numbers", r"-?\d+(?:\.\d+)?"),
    "t.percent": Target("percentage", "percentages", r"\d+(?:[.,]\d+)? ?%"),
    "t.money": Target(
        "amount",
        "amounts",
        r"[$€£] ?\d+(?:[ .,]\d+)*|\d+(?:[ .,]\d+)* ?(?:kr\b|kronor|SEK|USD|EUR|GBP|dollars?|euros?)",
    ),
    "t.date": Target(
        "date",
        "dates",
        r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
        rf"|\b\d{{1,2}} {_MONTHS} \d{{4}}\b|\b{_MONTHS} \d{{1,2}},? \d{{4}}\b",
    ),
    "t.time": Target("time", "times", r"\b\d{1,2}:\d{2}(?::\d{2})?\b"),
    "t.year": Target("year", "years", r"\b(?:19|20)\d{2}\b"),
    "t.ip": Target("ip", "IP addresses", r"\b(?:\d{1,3}\.){3}\d{1,3}\b"),
    "t.hashtag": Target("hashtag", "hashtags", r"#[\pL\pN_]+"),
    "t.handle": Target("handle", "mentions", r"(?:^|\s)(@\w+)"),
    "t.uuid": Target("uuid", "UUIDs", r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    "t.hex": Target("colour", "colour codes", r"#[0-9a-fA-F]{6}\b"),
    "t.tag": Target("tag", "HTML tags", r"<[^<>]+>"),
    "t.heading": Target("heading", "headings", r"(?m)^#{1,6} +(.+)$"),
    "t.quote": Target("quote", "quotations", '["“]([^"“”]+)["”]'),
    "t.acronym": Target("acronym", "acronyms", r"\b\p{Lu}{2,}\b"),
    "t.domain": Target("domain", "domains", r"(?:@|://)([\w-]+(?:\.[\w-]+)+)"),
    "t.question": Target("question", "questions", r"[^.!?\n]*\?"),
    "t.emoji": Target("emoji", "emoji", r"[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]"),
    "t.punctuation": Target("sign", "punctuation", r"[[:punct:]]"),
    "t.space": Target("space", "white space", r"[ \t]{2,}"),
    "t.version": Target("version", "version numbers", r"\bv?\d+\.\d+(?:\.\d+)+\b"),
    "t.filename": Target("file_name", "file names", r"\b[\w-]+\.[A-Za-z][A-Za-z0-9]{1,4}\b"),
    "t.card": Target("card", "card numbers", r"\b(?:\d[ -]?){13,16}\b"),
    "t.personnummer": Target("personal_number", "personal numbers", r"\b(?:\d{2})?\d{6}[-+]?\d{4}\b"),
    "u.word": Target("word", "words", r"[\pL\pN](?:[\pL\pN'’-]*[\pL\pN])?"),
    "u.character": Target("character", "characters", r"(?s)."),
}

UNITS: dict[str, tuple[str, str]] = {
    "u.line": ("line", "lines"),
    "u.sentence": ("sentence", "sentences"),
    "u.paragraph": ("paragraph", "paragraphs"),
    "u.part": ("part", "parts"),
    "u.word": ("word", "words"),
    "u.character": ("character", "characters"),
}
"""Units that `SplitText` or `Regex` makes, with singular and plural."""

SPLITS = {"u.line": "line", "u.sentence": "sentence", "u.paragraph": "paragraph"}


def names_of(sense: str) -> tuple[str, str]:
    """Singular and plural of a unit or target."""
    if sense in UNITS:
        return UNITS[sense]
    found = TARGETS.get(sense)
    return (found.name, found.plural) if found else ("item", "items")
