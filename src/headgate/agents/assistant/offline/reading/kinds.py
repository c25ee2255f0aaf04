"""What can be found in a text by its form: email addresses, dates, personal identity numbers."""

from dataclasses import dataclass


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


def _kind(key: str, pattern: str, example: str, english: str, swedish: str) -> Kind:
    return Kind(
        key,
        pattern,
        example,
        tuple(name.strip() for name in english.split(",")),
        tuple(name.strip() for name in swedish.split(",")),
    )


KINDS: tuple[Kind, ...] = (
    _kind("email", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "ann@example.org",
          "email addresses, email address, emails, email, e-mail addresses, e-mail address, e-mails, mail addresses, "
          "addresses of email, mailadresses",
          "e-postadresser, e-postadress, e-postadresserna, mejladresser, mejladress, mailadresser, epostadresser, e-post"),  # noqa: E501
    _kind("link", r"https?://[^\s<>\"')\]]+", "https://example.org/plan",
          "links, link, urls, url, web addresses, web address, hyperlinks",
          "länkar, länk, länkarna, webbadresser, webbadress, url"),
    _kind("person_number", r"\b(?:19|20)?\d{6}[-+]?\d{4}\b", "850101-2384",
          "personal identity numbers, personal numbers, personal number, personal identity number, "
          "swedish personal numbers, identity numbers, social security numbers, national id numbers, swedish personal identity numbers",  # noqa: E501
          "personnummer, personnumren, personnumret"),
    _kind("phone", r"\+?\d[\d ()-]{6,}\d", "+46 70 123 45 67",
          "phone numbers, phone number, telephone numbers, telephone number, phones, mobile numbers",
          "telefonnummer, telefonnumren, mobilnummer, telefonnumret"),
    _kind("date", r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b", "2026-03-01",
          "dates, date", "datum, datumen"),
    _kind("time", r"\b\d{1,2}:\d{2}(?::\d{2})?\b", "14:30", "times, clock times, times of day", "klockslag, tider"),
    _kind("number", r"-?\d+(?:[.,]\d+)?", "42", "numbers, number, figures", "tal, talen, siffror, nummer, numren"),
    _kind("digit", r"\d", "7", "digits, digit", "siffertecken"),
    _kind("hashtag", r"#[\pL\pN_]+", "#news", "hashtags, hashtag", "hashtaggar, hashtags"),
    _kind("ip", r"\b(?:\d{1,3}\.){3}\d{1,3}\b", "192.0.2.7", "ip addresses, ip address, ips, ipv4 addresses",
          "ip-adresser, ip-adress"),
    _kind("amount", r"(?:[€$£]\s?\d[\d ,.]*\d|\d[\d ,.]*\s?(?:kr|SEK|EUR|USD|€))", "120 kr",
          "amounts of money, money amounts, sums of money", "penningbelopp"),
    _kind("capitals", r"\b\p{Lu}{2,}\b", "NASA", "abbreviations, acronyms, capitalised abbreviations", "förkortningar"),
    _kind("punctuation", r"\p{P}", "!", "punctuation, punctuation marks", "skiljetecken, interpunktion"),
)  # fmt: skip
BY_NAME: dict[str, dict[str, Kind]] = {
    "en": {name: kind for kind in KINDS for name in kind.english},
    "sv": {name: kind for kind in KINDS for name in kind.swedish},
}
BY_KEY = {kind.key: kind for kind in KINDS}
