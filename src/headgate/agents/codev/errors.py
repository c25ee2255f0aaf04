"""What can go wrong with sessions of the development agent."""

from collections.abc import Sequence

from headgate.foundation.errors import Cancelled, Conflict, Invalid, NotFound


class SessionNotFound(NotFound):
    """The caller sees no such session."""

    code = "codev_session_not_found"
    title = "Session not found"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"There is no development session '{session_id[:64]}'.",
            remedy="List the sessions to see those that there are.",
        )


class NotWaiting(Conflict):
    """The session does not wait for this answer: it works, it is over, or it has been answered."""

    code = "codev_not_waiting"
    title = "Not waiting for this answer"


class BudgetTooSmall(Invalid):
    """The session would stop at once: its budget is used up."""

    code = "codev_budget_too_small"
    title = "Budget too small"

    def __init__(self, used: int) -> None:
        super().__init__(
            f"The session has used {used:,} tokens, and its budget has to be larger than that to continue.",
            remedy="Give a larger `token_budget`.",
        )


class SessionAtWork(Conflict):
    """What is asked for can be done only while the session rests."""

    code = "codev_session_at_work"
    title = "Session at work"


class NothingToRollBack(Conflict):
    """The session wrote nothing that is still there to be rolled back."""

    code = "codev_nothing_to_roll_back"
    title = "Nothing to roll back"


class WriteConflict(Conflict):
    """The flow is not as the session last saw it: somebody else changed it."""

    code = "codev_write_conflict"
    title = "Flow changed by somebody else"

    def __init__(
        self, name: str, *, remedy: str = "Nothing was written. The session reads it again and plans anew."
    ) -> None:
        super().__init__(f"'{name}' was changed by somebody else since this session last read it.", remedy=remedy)
        self.name = name


class RollbackConflict(Conflict):
    """Somebody else changed what is to be rolled back, or it is another than was shown: the user decides."""

    code = "codev_rollback_conflict"
    title = "Others changed the flow"

    def __init__(self, names: Sequence[str], *, stale: bool = False) -> None:
        flows = ", ".join(f"'{name[:100]}'" for name in names[:5])
        happened = "was changed since the preview was shown" if stale else "was changed by somebody else meanwhile"
        super().__init__(
            f"Nothing was rolled back: {flows} {happened}.",
            remedy="Read the preview with the differences, and answer with its token: keep_theirs or take_mine.",
        )


class DomainNotFound(Invalid):
    """There is no such domain."""

    code = "codev_domain_not_found"
    title = "Domain not found"


class LeaseLost(Cancelled):
    """The session is not this process's any more: somebody ended it, or another process took it up."""

    code = "codev_lease_lost"

    def __init__(self) -> None:
        super().__init__("The session was ended, or another server works on it.")
