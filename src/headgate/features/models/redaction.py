"""Take keys out of text that others wrote, before anyone reads it."""

import re
from collections.abc import Iterable

MASK = "[key hidden]"
_SHORTEST = 6
"""Characters under which a value is too common to be replaced wherever it occurs."""

_KEY_SHAPES = re.compile(
    r"""
    \b(?:sk|pk|rk)-[\w*.-]{4,}                 # OpenAI, Anthropic and those who imitate them, masked or not
    | \bgsk_[\w*.-]{4,}                        # Groq
    | \bAIza[\w*-]{6,}                         # Google
    | (?<=[Bb]earer\s)[^\s'",;]+
    | (?<=://)[^/\s@]+(?=@)                    # user and password in an address
    | (?<=[?&]key=)[^\s&'"]+
    | (?<=api[_-]key=)[^\s&'"]+
    """,
    re.VERBOSE,
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without the given secrets and without anything that looks like a key."""
    for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _KEY_SHAPES.sub(MASK, text)
