"""Errors of triggers."""

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, RateLimited, Unavailable


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


class NotAdmitted(Conflict):
    """The form of the trigger takes no submission, or not this one: nothing of it is stored."""

    code = "form_not_admitted"
    title = "Not accepted"


class FormClosed(NotAdmitted):
    """The form is closed: by its time, its number of submissions, or a user."""

    code = "form_closed"
    title = "Form closed"

    def __init__(self) -> None:
        super().__init__("The form is closed.", remedy="Ask the person who gave you the address.")


class LinkSpent(NotAdmitted):
    """The one-time link was used or revoked, or has expired."""

    code = "form_link_spent"
    title = "Link not valid"

    def __init__(self) -> None:
        super().__init__(
            "The link was used or revoked, or has expired.", remedy="Ask the person who sent it for another one."
        )


class UploadGone(NotAdmitted):
    """A file of the submission was deleted because it was not submitted in time."""

    code = "form_upload_gone"
    title = "File no longer stored"

    def __init__(self) -> None:
        super().__init__("A file of the form is no longer stored.", remedy="Choose the file again, and send the form.")


class FormBusy(Unavailable):
    """The submission could not be processed, for a reason that is not for visitors."""

    code = "form_busy"
    title = "Not accepted right now"

    def __init__(self) -> None:
        super().__init__("The form cannot be processed right now. Nothing was sent.", remedy="Try again later.")


class FormNotFound(NotFound):
    """There is no form at this address: the response does not reveal why."""

    code = "form_not_found"
    title = "Not available"

    def __init__(self) -> None:
        super().__init__("There is no form at this address.", remedy="Ask the person who gave you the address.")


class LinkNotFound(NotFound):
    """The trigger has no such link."""

    code = "trigger_link_not_found"
    title = "Link not found"

    def __init__(self, link_id: str) -> None:
        super().__init__(f"The trigger has no link '{link_id}'.", remedy="List the links of the trigger.")


class LinkUsed(Conflict):
    """A used link cannot be revoked."""

    code = "trigger_link_used"
    title = "Link used"

    def __init__(self) -> None:
        super().__init__("The link was used; its submission has started.", remedy="Cancel the run instead.")


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
