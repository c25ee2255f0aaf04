"""Whether words name a file of the workspace: `NOTES.md`, `notes/plan.md`, `../secrets`, not `example.org/page`."""

import re
from collections.abc import Mapping

from headgate.agents.assistant.offline.files.wording import is_quoted, unquoted

_ENDING = re.compile(
    r".*\.(?:md|markdown|txt|text|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|html?|xml|css|js|ts|py|sh|sql|rst|log|env)",
    re.IGNORECASE | re.DOTALL,
)
_PATH_LIKE = re.compile(r"(?:\.{0,2}[\\/]|~|[a-z]:[\\/]|.*(?:^|[\\/])\.\.?[\\/\w])", re.IGNORECASE | re.DOTALL)
_NO_NAMES = frozenset(
    [
        "that",
        "which",
        "with",
        "saying",
        "containing",
        "reading",
        "and",
        "or",
        "to",
        "in",
        "on",
        "of",
        "for",
        "from",
        "as",
        "about",
        "i",
        "som",
        "med",
        "där",
        "och",
        "eller",
        "till",
        "från",
        "om",
        "av",
        "för",
        "the",
        "a",
        "my",
        "mina",
        "me",
        "you",
        "please",
        "it",
        "this",
    ]
)
LONGEST_PATH = 300


def path_named(found: Mapping[str, str | None]) -> str:
    """The path that a match names in its group `path`; empty when these words name no file."""
    said = (found.get("path") or "").strip()
    path = unquoted(said)
    if not path.strip() or len(path) > LONGEST_PATH or "://" in path or "\n" in path:
        return ""
    if found.get("file"):
        return "" if path.lower() in _NO_NAMES and not is_quoted(said) else path
    if not _ENDING.fullmatch(path) and not _PATH_LIKE.match(path):
        return ""
    return "" if _is_address(path) else path


def _is_address(path: str) -> bool:
    """Whether it is a web address without `https://`."""
    return re.fullmatch(r"(?:[\w-]+\.)+(?:com|org|net|dev|io|se|no|dk|fi|eu|example)(?:/.*)?", path) is not None
