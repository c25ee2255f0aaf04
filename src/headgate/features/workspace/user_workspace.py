"""The five file tools of one person's workspace: answers as JSON, never an exception (seed 003)."""

from headgate.features.workspace.places import Binding


class UserWorkspace:
    """A person's own files, as an agent or a step sees them."""

    def __init__(self, binding: Binding, *, read_only: bool = False) -> None:
        self.binding = binding
        self.read_only = read_only
