"""Errors of the list of Flowise servers. No message contains a key."""

from collections.abc import Iterable

from headgate.foundation.errors import Conflict, Invalid, NotFound
from headgate.graph.names import did_you_mean, listed


class InstanceNotFound(NotFound):
    """The server does not exist, or none is configured."""

    code = "flowise_instance_not_found"
    title = "Flowise server not found"

    def __init__(self, instance_id: str, known: Iterable[str] = ()) -> None:
        names = list(known)
        which = f"There is no Flowise server '{instance_id[:100]}'" if instance_id else "There is no Flowise server"
        super().__init__(
            f"{which}{did_you_mean(instance_id, names) or '.'}",
            remedy=(
                f"Configured: {listed(names)}. An admin adds one in Settings, with `headgate codev "
                "instances add` or POST /api/v1/codev/instances; the operator with "
                "HEADGATE_CODEV__FLOWISE_INSTANCES."
            ),
        )


class InstanceTaken(Conflict):
    """A server of that name exists, or a variable of the name that its key would have."""

    code = "flowise_instance_taken"
    title = "Name taken"


class BadInstance(Invalid):
    """What no server is."""

    code = "flowise_bad_instance"
    title = "Not a Flowise server"
