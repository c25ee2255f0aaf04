"""Texts that are longer than a local model takes, in parts."""

import textwrap
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

WINDOW = 1_200
"""Characters that a local model takes at once: about 300 tokens of English, under its 512."""
_SMALLEST = 32
_TOO_LONG = ("larger than the max context size", "too large to process")
"""What llama.cpp's errors for a text of too many tokens contain."""
Answer = TypeVar("Answer")


async def in_windows(texts: Sequence[str], ask: Callable[[list[str]], Awaitable[Answer]]) -> tuple[Answer, list[int]]:
    """Return the answer of a model for the windows of all texts, and how many windows each text has.

    Windows become smaller when the model finds more tokens in them than it takes. Raises what `ask` raises.
    """
    size = WINDOW
    while True:
        windows = [textwrap.wrap(text, size, replace_whitespace=False) or [text[:size]] for text in texts]
        try:
            return await ask([part for parts in windows for part in parts]), [len(parts) for parts in windows]
        except Exception as error:
            if size <= _SMALLEST or not any(sign in str(error) for sign in _TOO_LONG):
                raise
            size //= 2
