"""Errors of flows."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Invalid, NotFound


class FlowNotFound(NotFound):
    """No such flow for this tenant."""

    code = "flow_not_found"
    title = "Flow not found"

    def __init__(self, flow_id: str) -> None:
        super().__init__(f"There is no flow '{flow_id[:200]}'.", remedy="List the flows to see their ids and names.")


class AmbiguousFlow(Invalid):
    """Several flows have the name. Carries their ids as `flows`."""

    code = "flow_ambiguous"
    title = "Several flows have that name"

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(
            f"{len(ids)} flows are called '{name[:200]}': {', '.join(ids)}.",
            remedy="Give the id of the one you mean.",
            flows=list[JsonValue](ids),
        )


class VersionNotFound(NotFound):
    """No such version of the flow."""

    code = "version_not_found"
    title = "Version not found"


class NothingToUndo(Conflict):
    """The flow was never changed, or every change is undone."""

    code = "nothing_to_undo"
    title = "Nothing to undo"

    def __init__(self) -> None:
        super().__init__(
            "There is no change to undo: the flow is as it was created.",
            remedy="Delete it if you do not want it, or restore a later revision.",
        )


class DraftNotFound(NotFound):
    """The draft of a revision is not kept, or it is the present one."""

    code = "draft_not_found"
    title = "Revision not found"

    def __init__(self, revision: int, current: int) -> None:
        super().__init__(
            f"There is no earlier draft of revision {revision}; the flow is at revision {current}.",
            remedy="The last 100 drafts are kept: `headgate flows revisions` and read_flow with part='revisions' list"
            " the newest.",
        )


class CannotOwn(Invalid):
    """A member of the space who may not edit flows there, or who is shut out, cannot own a flow."""

    code = "cannot_own"
    title = "This member cannot own the flow"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} may not edit flows in this space.",
            remedy="Choose an active member who is at least an editor, or change their role first.",
        )


class StaleRevision(Conflict):
    """The draft changed since the caller read it. Carries the `revision` in force; nothing was overwritten."""

    code = "stale_revision"
    title = "The draft has changed"

    def __init__(self, *, sent: int, current: int) -> None:
        super().__init__(
            f"The draft is at revision {current}; this change was made on revision {sent}. Nothing was overwritten.",
            remedy="Read the draft again, apply the change to it and send it with the revision you read.",
            revision=current,
        )
