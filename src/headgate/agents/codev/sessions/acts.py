"""User actions on a session, as events of its record: who, what, when."""

from typing import Any

from headgate.agents.codev.writing.events import Event
from headgate.features.access.principal import Principal

ACTION = "action"
"""Kind of these events: `action` is `started`, `answered`, `continued`, `credential_added`, `stopped` or
`rolled_back`; `by` is who."""


def act(principal: Principal, action: str, **more: Any) -> Event:  # noqa: ANN401 - JSON
    """The event of something that a user did. Never the value of a credential."""
    by = {"name": principal.actor.name, "kind": principal.actor.kind, "user_id": principal.user_id}
    return ACTION, {"action": action, "by": by, **more}
