"""Errors of development sessions."""

from collections.abc import Sequence

from headgate.foundation.errors import Cancelled, Conflict, Invalid, NotFound


class SessionNotFound(NotFound):
    """The caller sees no such session."""

    code = "codev_session_not_found"
    title = "Session not found"
    remedy = "List the sessions to see their ids."

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no development session '{session_id[:64]}'.")


class NotWaiting(Conflict):
    """The session does not wait for this answer: it is running, over, or already answered."""

    code = "codev_not_waiting"
    title = "Wrong answer for this interrupt"


class BudgetTooSmall(Invalid):
    """The session would stop at once: its budget is used up."""

    code = "codev_budget_too_small"
    title = "Budget too small"
    remedy = "Set a larger `token_budget`."

    def __init__(self, used: int) -> None:
        super().__init__(f"The session has used {used:,} tokens; the budget must be larger to continue.")


class SessionAtWork(Conflict):
    """The operation requires a session that is not running."""

    code = "codev_session_at_work"
    title = "Session is running"


class NothingToRollBack(Conflict):
    """The session has no writes to roll back."""

    code = "codev_nothing_to_roll_back"
    title = "Nothing to roll back"


class WriteConflict(Conflict):
    """The flow has changed since the session last read it."""

    code = "codev_write_conflict"
    title = "Flow changed by another user"

    def __init__(
        self,
        name: str,
        *,
        remedy: str = ("Nothing was written. The session reads the flow again and creates a new plan."),
    ) -> None:
        super().__init__(f"'{name}' was changed by another user after this session last read it.", remedy=remedy)
        self.name = name


class RollbackConflict(Conflict):
    """Another user changed what would be rolled back, or the preview is outdated: the user decides."""

    code = "codev_rollback_conflict"
    title = "Flow changed by others"

    def __init__(self, names: Sequence[str], *, stale: bool = False) -> None:
        flows = ", ".join(f"'{name[:100]}'" for name in names[:5])
        happened = "was changed since the preview was shown" if stale else "was changed by another user in the meantime"
        super().__init__(
            f"Nothing was rolled back: {flows} {happened}.",
            remedy="Read the preview with the differences, and answer with its token: keep_theirs or take_mine.",
        )


class DomainNotFound(Invalid):
    """The domain does not exist."""

    code = "codev_domain_not_found"
    title = "Domain not found"


class LeaseLost(Cancelled):
    """The process lost the session: a user ended it, or another process recovered it."""

    code = "codev_lease_lost"
    title = "Cancelled"
    detail = "The session has ended, or is running on another server."
