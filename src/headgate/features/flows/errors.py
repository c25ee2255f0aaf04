"""Errors of flows."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Invalid, NotFound


class FlowNotFound(NotFound):
    """No such flow for this tenant."""

    code = "flow_not_found"

    def __init__(self, flow_id: str) -> None:
        super().__init__(f"There is no flow '{flow_id[:200]}'.", remedy="List the flows to see their ids and names.")


class AmbiguousFlow(Invalid):
    """Several flows have the name. Carries their ids as `flows`."""

    code = "flow_ambiguous"
    title = "Several flows have that name"
    remedy = "Give the id of one."

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(f"{len(ids)} flows are named '{name[:200]}': {', '.join(ids)}.", flows=list[JsonValue](ids))


class VersionNotFound(NotFound):
    """No such version of the flow."""

    code = "version_not_found"


class NothingToUndo(Conflict):
    """The flow was never changed, or every change is undone."""

    code = "nothing_to_undo"
    detail = "There is no change to undo: the flow has not changed since it was created."
    remedy = "Delete it if you do not want it, or restore a later revision."


class DraftNotFound(NotFound):
    """The draft of the revision is not stored, or it is the current one."""

    code = "draft_not_found"
    title = "Revision not found"
    remedy = "The last 100 drafts are kept. `headgate flows revisions` and read_flow with part='revisions' list them."

    def __init__(self, revision: int, current: int) -> None:
        super().__init__(f"Revision {revision} of the draft is not available; the flow is at revision {current}.")


class TooManyTags(Invalid):
    """A flow would have more tags than allowed."""

    code = "too_many_tags"

    def __init__(self, name: str, count: int) -> None:
        super().__init__(f"'{name}' would have {count} tags.", remedy="Remove tags first: a flow has at most 20.")


class CannotOwn(Invalid):
    """A member who may not edit flows of the space, or is deactivated, cannot own a flow."""

    code = "cannot_own"
    title = "This member cannot own the flow"
    remedy = "Choose an active member with the role editor or higher, or change their role first."
    detail = "{} does not have permission to edit flows in this space."


class StaleRevision(Conflict):
    """The draft changed since the caller read it. Carries the current `revision`; nothing was overwritten."""

    code = "stale_revision"
    title = "The draft has changed"
    remedy = "Read the draft again, apply the change to it and send it with its revision."

    def __init__(self, *, sent: int, current: int) -> None:
        super().__init__(
            f"The draft is at revision {current}; this change was based on revision {sent}. Nothing was overwritten.",
            revision=current,
        )
