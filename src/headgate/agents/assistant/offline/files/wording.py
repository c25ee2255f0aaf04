"""How requests about files are worded, and which words name a file: `NOTES.md`, `../secrets`, not `example.org/page`.

What a file is to say must stay as it was written, so these requests are not cut into tokens; `language/both/files.txt`
has their patterns.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from headgate.agents.assistant.offline.language.files import entries

_NAME = re.compile(r"\{([a-z]+)\}")
_ENDING = re.compile(
    r".*\.(?:md|markdown|txt|text|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|html?|xml|css|js|ts|py|sh|sql|rst|log|env)",
    re.IGNORECASE | re.DOTALL,
)
_PATH_LIKE = re.compile(r"(?:\.{0,2}[\\/]|~|[a-z]:[\\/]|.*(?:^|[\\/])\.\.?[\\/\w])", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"(?:[\w-]+\.)+(?:com|org|net|dev|io|se|no|dk|fi|eu|example)(?:/.*)?")
LONGEST_PATH = 300


@lru_cache(maxsize=1)
def _sections() -> dict[str, list[str]]:
    return dict(entries("both", "files"))


@lru_cache(maxsize=16)
def wordings(key: str) -> tuple[re.Pattern[str], ...]:
    """How a kind of request is worded: patterns of the whole request."""
    return tuple(_pattern(text) for text in _sections()[key])


def _pattern(text: str) -> re.Pattern[str]:
    fragments = dict(line.split(": ", 1) for line in _sections()["fragments"])
    while _NAME.search(text):
        text = _NAME.sub(lambda name: fragments[name[1]], text)
    return re.compile(r"\s*" + text.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)


def unquoted(text: str) -> str:
    """What stands between the quotation marks; the text itself where there are none."""
    text = text.strip()
    return text[1:-1] if is_quoted(text) else text


def is_quoted(text: str) -> bool:
    """Whether all of a text stands between quotation marks."""
    return wordings("quoted")[0].fullmatch(text) is not None


def path_named(match: Mapping[str, str | None]) -> str:
    """The path that a match names in its group `path`; empty when these words name no file."""
    written = (match.get("path") or "").strip()
    path = unquoted(written)
    if not path.strip() or len(path) > LONGEST_PATH or "://" in path or "\n" in path:
        return ""
    if match.get("file"):
        return "" if path.lower() in _sections()["no_names"][0].split() and not is_quoted(written) else path
    named = _ENDING.fullmatch(path) or _PATH_LIKE.match(path)
    return path if named and not _ADDRESS.fullmatch(path) else ""
