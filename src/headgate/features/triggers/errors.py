"""Errors of triggers."""

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, RateLimited


class TriggerNotFound(NotFound):
    """The caller sees no such trigger."""

    code = "trigger_not_found"
    title = "Trigger not found"

    def __init__(self, trigger_id: str) -> None:
        super().__init__(f"There is no trigger '{trigger_id}'.", remedy="List the triggers to see their ids.")


class BackfillNotFound(NotFound):
    """The trigger has no such backfill."""

    code = "backfill_not_found"
    title = "Backfill not found"

    def __init__(self, backfill_id: str) -> None:
        super().__init__(
            f"The trigger has no backfill '{backfill_id}'.", remedy="List the occurrences of the trigger to see them."
        )


class TriggerInvalid(Invalid):
    """The settings of a trigger do not fit together."""

    code = "trigger_invalid"
    title = "Invalid trigger"


class ScheduleInvalid(TriggerInvalid):
    """The schedule is not valid."""

    code = "schedule_invalid"
    title = "Invalid schedule"


class TriggerChanged(Conflict):
    """The trigger was changed, paused or claimed by another process during this firing."""

    code = "trigger_changed"
    title = "Trigger changed"

    def __init__(self) -> None:
        super().__init__("The trigger was changed or paused during this firing.", remedy="Try again.")


class OccurrenceRefused(Conflict):
    """The occurrence exists already, or a policy of the trigger does not let it start a run now."""

    code = "occurrence_refused"
    title = "Occurrence refused"

    def __init__(self) -> None:
        super().__init__("The occurrence exists, or a policy of the trigger refuses a run now.")


class TriggerPaused(Conflict):
    """The trigger is paused."""

    code = "trigger_paused"
    title = "Trigger paused"

    def __init__(self, reason: str) -> None:
        detail = f"The trigger is paused: {reason}" if reason else "The trigger is paused."
        super().__init__(detail, remedy="Resume the trigger.")


class OwnerGone(Forbidden):
    """The owner of a trigger may no longer start the flow, or view what the trigger follows."""

    code = "trigger_owner_gone"
    title = "Owner without permission"


class TriggerLoop(Conflict):
    """Flows start each other without an end."""

    code = "trigger_loop"
    title = "Flows start each other"


class RunOfTest(Conflict):
    """The followed run is a test."""

    code = "run_of_test"
    title = "Run of a test"

    def __init__(self) -> None:
        super().__init__("The run was a test, or of a draft that was published later.")


class QueueFull(RateLimited):
    """The trigger has reached its limits, and so many occurrences wait that no further one is stored."""

    code = "trigger_queue_full"
    title = "Queue full"


class TooManyTriggers(Conflict):
    """A flow or a backfill has reached its limit."""

    code = "too_many_triggers"
    title = "Too many triggers"


class HookNotFound(NotFound):
    """There is no webhook at this address, or it is off: the response does not reveal which."""

    code = "hook_not_found"
    title = "Not found"

    def __init__(self) -> None:
        super().__init__("There is no webhook at this address.", remedy="Copy the address from the trigger again.")


class HookRefused(Forbidden):
    """The call is not signed as the trigger requires."""

    code = "hook_refused"
    title = "Not verified"
    status = 401

    def __init__(self, reason: str) -> None:
        super().__init__(f"The call could not be verified: {reason}.", remedy="Check the secret on both sides.")
