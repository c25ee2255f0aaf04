"""Parses own code, and says in one way why it cannot be parsed."""

import ast
import warnings


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
    """The syntax tree. Raises `Unreadable`."""
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
