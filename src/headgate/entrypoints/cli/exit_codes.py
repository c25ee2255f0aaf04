"""Exit codes of every command: 0 only if the whole request succeeded.

| code | meaning                                                       |
|------|---------------------------------------------------------------|
| 0    | success                                                       |
| 1    | failure: a run, a delivery, a test, a check, an assistant turn or a session did not complete |
| 2    | invalid command line                                          |
| 3    | invalid input: a flow with errors, an invalid value           |
| 4    | not found                                                     |
| 5    | unavailable: a required resource is missing, locked, full or in use |
| 6    | conflict: changed in the meantime, or not possible in this state, such as cancelling a finished run |
| 7    | the assistant did not fulfil the request: it refused, changed nothing, or made a claim that is not true |
| 8    | waiting: a plan or edits of the assistant, a development session, a key rotation, a delivery, a run |
| 9    | partly done: the import is stored, but the listed problems prevent it from running |
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
