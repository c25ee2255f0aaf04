"""Exit codes of every command.

| code | meaning                                                       |
|------|---------------------------------------------------------------|
| 0    | done                                                          |
| 1    | the run failed, or the assistant or a session did not finish  |
| 2    | the command line was wrong                                    |
| 3    | the input was wrong: a flow with faults, a bad value          |
| 4    | the thing does not exist                                      |
| 5    | something Headgate needs is missing, locked, full or in the way |
| 6    | it changed meanwhile, or its state forbids this               |
| 7    | the assistant says that it did not do what was asked          |
| 8    | a session of the development agent waits for an answer        |
| 130  | interrupted                                                   |
"""

from headgate.foundation.errors import Cancelled, Conflict, HeadgateError, Invalid, NotFound, TooLarge

OK = 0
FAILED = 1
INVALID = 3
NOT_FOUND = 4
UNAVAILABLE = 5
CONFLICT = 6
DECLINED = 7
WAITING = 8
INTERRUPTED = 130

_CODES: tuple[tuple[type[HeadgateError], int], ...] = (
    (Invalid, INVALID),
    (TooLarge, INVALID),
    (NotFound, NOT_FOUND),
    (Conflict, CONFLICT),
    (Cancelled, INTERRUPTED),
)


def code_for(error: HeadgateError) -> int:
    """The exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), UNAVAILABLE)
