"""What can go wrong with the list of Flowise servers. No message holds a key."""

from collections.abc import Iterable

from headgate.foundation.errors import Conflict, Invalid, NotFound
from headgate.graph.names import did_you_mean, listed


class InstanceNotFound(NotFound):
    """There is no such server, or none at all."""

    code = "flowise_instance_not_found"
    title = "Flowise server not found"

    def __init__(self, instance_id: str, known: Iterable[str] = ()) -> None:
        names = list(known)
        which = f"There is no Flowise server '{instance_id[:100]}'" if instance_id else "There is no Flowise server"
        super().__init__(
            f"{which}{did_you_mean(instance_id, names) or '.'}",
            remedy=f"There are: {listed(names)}. An admin adds one in Settings, with `headgate codev instances add` or "
            "POST /api/v1/codev/instances; the operator with HEADGATE_CODEV__FLOWISE_INSTANCES.",
        )


class InstanceTaken(Conflict):
    """There is a server of that name, or a variable of the name that its key would have."""

    code = "flowise_instance_taken"
    title = "Name taken"


class BadInstance(Invalid):
    """What no server is."""

    code = "flowise_bad_instance"
    title = "Not a Flowise server"
