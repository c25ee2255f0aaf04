"""Parses own code, and says in one way why it cannot be parsed."""

import ast
import re
import warnings
from itertools import islice

MOST_CHARACTERS = 100_000
"""Of one piece of code; the sandbox takes no more (`Limits.code_bytes`)."""
MOST_WORDS = 20_000
"""Words and signs in it. Python's parser takes a millisecond for a hundred of them, and lets nothing else run then."""
_WORD = re.compile(r"\w+|[^\w\s]")


class Unreadable(Exception):
    """The code is no Python.

    Args:
        message: What is wrong, for people.
        remedy: What to do.
        line: Where, from 1.
        column: Where in the line, from 1.
    """

    def __init__(self, message: str, remedy: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.line = line
        self.column = column


def read_source(code: str) -> ast.Module:
    """The syntax tree. Raises `Unreadable`, also for more than can be read in a moment."""
    if len(code) > MOST_CHARACTERS or next(islice(_WORD.finditer(code), MOST_WORDS, None), None) is not None:
        raise Unreadable(
            f"the code is longer than {MOST_CHARACTERS} characters or {MOST_WORDS} words and signs",
            "Split it in two, or read long data from a file.",
            1,
            1,
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes and the like: the author's affair
            return ast.parse(code)
    except SyntaxError as error:
        message = f"syntax error: {error.msg}"
        raise Unreadable(message, "Correct the line.", error.lineno or 1, max(error.offset or 1, 1)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        remedy = "Remove unprintable characters, and split very long expressions."
        raise Unreadable("this cannot be read as Python", remedy, 1, 1) from error
