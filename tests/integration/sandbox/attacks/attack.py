"""What an attack is."""

from dataclasses import dataclass

from headgate.foundation.errors import HeadgateError

CONTAINED = "contained"
"""A result that starts so says: the attempt was refused, and with which error."""
ESCAPED = "ESCAPED"

PRELUDE = '''
import os, sys, time

def attempt(action):
    """The error an action is refused with, or what it gave."""
    try:
        return "ESCAPED with " + repr(action())[:300]
    except BaseException as error:
        return f"contained by {type(error).__name__}: {error}"

def system_call(number, *arguments):
    """A call without any library in between."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    converted = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = libc.syscall(ctypes.c_long(number), *converted)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
'''


@dataclass(frozen=True, slots=True)
class Attack:
    """Code that tries one thing.

    `run(inputs)` returns text that begins with CONTAINED or ESCAPED, unless `expected` names the error that the call
    must end in.
    """

    name: str
    code: str
    expected: type[HeadgateError] | None = None
    words: str = ""
    """Text that result or error must contain."""
    escapes_outside: bool = False
    """Whether it succeeds where isolation is off: the proof that isolation, and not chance, contains it."""
    timeout_seconds: float = 10.0

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


def attempt(
    name: str, expression: str, *, escapes_outside: bool = False, imports: str = "os", words: str = ""
) -> Attack:
    """An attack that evaluates one expression."""
    code = f"import {imports}\ndef run(inputs):\n    return attempt(lambda: {expression})\n"
    return Attack(name, code, escapes_outside=escapes_outside, words=words)


def system_call(name: str, call: str, *arguments: str) -> Attack:
    """An attack that makes one system call, by its number on this machine; it must be refused before it looks."""
    listed = ", ".join((f"inputs['numbers'][{call!r}]", *arguments))
    code = f"import ctypes\ndef run(inputs):\n    return attempt(lambda: system_call({listed}))\n"
    return Attack(name, code, words="not implemented" if call == "clone3" else "PermissionError")
