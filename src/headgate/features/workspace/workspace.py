"""Workspaces of users, for agents and for steps of flows."""

from collections.abc import Callable
from typing import Literal

from headgate.features.access.principal import Principal
from headgate.features.workspace.places import Binding, Owner, Places, owner_of
from headgate.features.workspace.user_workspace import BeforeEach, UserWorkspace
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Instruments

Area = Literal["assistant", "flows"]
"""Area of a user's files: with auto-login the flows' are in the shared folder, else they are the same."""


class Workspace:
    """The workspaces of an installation.

    Args:
        settings: The folders, sign-in mode, and quota.
        metrics: Counts the calls of tools.
    """

    def __init__(self, settings: Settings, metrics: Instruments | None = None) -> None:
        self._places = Places(settings)
        self._metrics = metrics or Instruments()

    def for_agent(self, principal: Principal) -> UserWorkspace:
        """Return a user's own files, for the user's agent: never shared."""
        owner = owner_of(principal)
        return UserWorkspace(Binding(self._places, owner, lambda: owner, isolated=True), metrics=self._metrics)

    def of_user(self, principal: Principal, area: Area) -> UserWorkspace:
        """Return a user's own files, for the user: those of the assistant, or of the user's flows."""
        owner = owner_of(principal)
        return self.for_agent(principal) if area == "assistant" else self.for_flow(lambda: owner)

    def for_flow(
        self,
        now: Callable[[], Owner],
        *,
        root_path: str = "",
        read_only: bool = False,
        before_each: BeforeEach | None = None,
    ) -> UserWorkspace:
        """Return the files for a step of a flow: shared, a user's own or none, decided at each call.

        Args:
            now: Returns the step's current user.
            root_path: The folder in the workspace where the step's paths begin, as configured by its author.
            read_only: Whether writing is refused.
            before_each: Awaited before each call, so that `now` is current.
        """
        return UserWorkspace(
            Binding(self._places, now(), now, root_path=root_path),
            read_only=read_only,
            metrics=self._metrics,
            before_each=before_each,
        )
