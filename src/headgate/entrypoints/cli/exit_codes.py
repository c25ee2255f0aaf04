"""Exit codes of every command: 0 only when everything that was asked is done.

| code | meaning                                                       |
|------|---------------------------------------------------------------|
| 0    | done, all of it                                               |
| 1    | it failed: a run, a delivery, a test, a check, a turn of the assistant or a session that did not finish |
| 2    | the command line was wrong                                    |
| 3    | the input was wrong: a flow with faults, a bad value          |
| 4    | the thing does not exist                                      |
| 5    | something Headgate needs is missing, locked, full or in the way |
| 6    | it changed meanwhile, or its state forbids this: a run that is over cannot be cancelled |
| 7    | the assistant did not do what was asked: it refused, changed nothing, or reported what did not happen |
| 8    | it waits: a plan or edits of the assistant, a session of the development agent, a key rotation, a delivery |
| 9    | done in part: what was imported is stored, and the listed faults keep it from running |
| 130  | interrupted, or not confirmed                                 |
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
PARTLY = 9
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
