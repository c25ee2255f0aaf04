"""Parses custom code, with uniform errors."""

import ast
import re
import warnings
from itertools import islice

MOST_CHARACTERS = 100_000
"""Maximum size of one piece of code; the sandbox has the same limit (`Limits.code_bytes`)."""
MOST_WORDS = 20_000
"""Maximum tokens. Python's parser takes a millisecond for a hundred of them, and blocks everything else meanwhile."""
_WORD = re.compile(r"\w+|[^\w\s]")


class Unreadable(Exception):
    """The code is not valid Python.

    Args:
        message: The error, for users.
        remedy: What to do.
        line: Line, from 1.
        column: Column, from 1.
    """

    def __init__(self, message: str, remedy: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.line = line
        self.column = column


def read_source(code: str) -> ast.Module:
    """Return the syntax tree. Raises `Unreadable`, also for code that takes too long to parse."""
    if len(code) > MOST_CHARACTERS or next(islice(_WORD.finditer(code), MOST_WORDS, None), None) is not None:
        raise Unreadable(
            f"the code is longer than {MOST_CHARACTERS} characters or {MOST_WORDS} tokens",
            "Split it in two, or read long data from a file.",
            1,
            1,
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes and similar: the author's responsibility
            return ast.parse(code)
    except SyntaxError as error:
        message = f"syntax error: {error.msg}"
        raise Unreadable(message, "Correct the line.", error.lineno or 1, max(error.offset or 1, 1)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        remedy = "Remove unprintable characters, and split very long expressions."
        raise Unreadable("this is not valid Python", remedy, 1, 1) from error
