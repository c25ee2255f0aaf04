"""Where a flow's data comes from, as people say it."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.reading.data import Sample

SourceKind = Literal["table", "file", "text", "json", "form", "packages", "message"]


@dataclass(frozen=True, slots=True)
class Source:
    """What a flow starts from, and the words that said so."""

    kind: SourceKind
    words: str

    def say(self, language: Language) -> str:
        """The source in words."""
        return (_SAID_SV if language == "sv" else _SAID_EN)[self.kind]


_SAID_EN: dict[SourceKind, str] = {
    "table": "the table in the uploaded file (CSV)", "file": "the text of the uploaded file", "text": "the text that is typed in",
    "json": "the JSON that is typed in", "form": "the answers of a form", "packages": "the installed packages",
    "message": "the message",
}  # fmt: skip
_SAID_SV: dict[SourceKind, str] = {
    "table": "tabellen i den uppladdade filen (CSV)", "file": "texten i den uppladdade filen", "text": "texten som skrivs in",
    "json": "JSON-texten som skrivs in", "form": "svaren i ett formulär", "packages": "de installerade paketen",
    "message": "meddelandet",
}  # fmt: skip
_UP_EN = (
    r"(?: (?:that )?(?:i|we|they|is|was|people|you) ?(?:will )?(?:upload|uploaded|attach|attached|give|add)?(?:ed)?)?"
)
_UP_SV = r"(?: (?:som )?(?:jag|vi) (?:laddar upp|laddat upp|bifogar|laddade upp|skickar))?"
_TYPED_EN = r"(?: (?:that )?(?:i|we|people|they|somebody|someone|users|is) (?:will )?(?:type|paste|write|enter|send|give|typed|pasted|types|writes)(?: in)?)?"
_TYPED_SV = r"(?: (?:som )?(?:jag|vi|man) (?:skriver|klistrar|matar|skickar)(?: in)?)?"
_FORMS: dict[Language, tuple[tuple[SourceKind, str], ...]] = {
    "en": (
        ("packages", r"(?:installed |list of installed )?(?:python )?(?:packages|dependencies|libraries|libs)(?: (?:that are )?installed(?: here| on server)?)?"),
        ("table", rf"(?:uploaded |attached )?(?:csv|table|spreadsheet|csv file|csv table|csv spreadsheet|data|data file|rows of csv)(?: file)?{_UP_EN}"),
        ("json", rf"(?:json|json text|json list|json data)(?: list)?{_TYPED_EN}"),
        ("json", r"(?:list of json|pasted json)"),
        ("form", r"(?:answers (?:of|in|from) )?form(?: answers| fields)?"),
        ("file", rf"(?:text (?:of|in) )?(?:uploaded |attached )?(?:file|document|log|log file|logfile|letter|report|pdf|text file|contract|article|"
                 rf"markdown file|word document|pdf file|notes|essay|manual|minutes)(?:'s text)?{_UP_EN}"),
        ("text", r"(?:whatever|what|everything) (?:i|we|people|they|somebody|someone|users|is) (?:type|paste|write|enter|send|typed|pasted|types|writes)(?: in)?"),
        ("message", rf"(?:message|messages|chat message|mail text|incoming message|incoming messages|feedback|post|comment){_TYPED_EN}"),
        ("text", rf"(?:text|input|input text|typed text|pasted text|list|recipe|some text|text input|sentence|paragraph){_TYPED_EN}"),
    ),
    "sv": (
        ("packages", r"(?:installerade )?(?:python-?)?paket(?:en)?"),
        ("table", rf"(?:uppladdade |bifogade )?(?:csv|csv filen|csv fil|tabellen|tabell|kalkylarket|kalkylblad|csvfil|csvfilen|data){_UP_SV}"),
        ("json", rf"(?:json|json texten|json text|json listan|json lista){_TYPED_SV}"),
        ("form", r"(?:svaren i )?(?:formulär|formuläret|formulärets svar)"),
        ("file", rf"(?:uppladdade |bifogade )?(?:fil|filen|dokumentet|dokument|loggen|logg|loggfilen|brevet|rapporten|pdf|pdf filen|textfilen|avtalet){_UP_SV}"),
        ("text", r"(?:det )?(?:jag|man) (?:skriver|klistrar) in"),
        ("message", r"(?:meddelandet|meddelande|meddelanden|inlägget|kommentaren)"),
        ("text", rf"(?:text|texten|inmatad text|listan){_TYPED_SV}"),
    ),
}  # fmt: skip


@lru_cache(maxsize=2)
def _compiled(language: Language) -> tuple[tuple[SourceKind, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(expression)) for kind, expression in _FORMS[language])


def source_forms(language: Language) -> list[str]:
    """How sources are said, as regular expressions over tokens."""
    return [expression for _, expression in _FORMS[language]]


def source_of(words: str, language: Language, sample: Sample | None) -> Source | None:
    """The source that words mean. A file that is there is meant by its name, and by `the text` and `the file`."""
    for kind, expression in _compiled(language):
        if expression.fullmatch(words):
            return Source(_fitting(kind, words, sample), words)
    return None


def _fitting(kind: SourceKind, words: str, sample: Sample | None) -> SourceKind:
    """What is meant given the file that is there: `the file` is its table when it holds one."""
    if sample is None or not sample.text:
        return kind
    if kind in {"file", "text"} and not re.search(r"\b(?:type|paste|typed|pasted|skriver|klistrar)\b", words):
        return "table" if sample.columns is not None else "file"
    return kind
