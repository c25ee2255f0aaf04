"""Connects the port of runs to the workspace slice: files of the user who started a run."""

from dataclasses import dataclass

from headgate.features.runs.starters import RunStarters
from headgate.features.runs.transitions import RunKey
from headgate.features.workspace.places import Owner
from headgate.features.workspace.workspace import Workspace
from headgate.sdk import WorkspaceTools


@dataclass(frozen=True, slots=True)
class StarterWorkspaces:
    """Workspaces of users who start runs."""

    workspace: Workspace
    starters: RunStarters

    async def of_run(self, key: RunKey, root_path: str, *, read_only: bool) -> WorkspaceTools:
        """Return the tools of the user who started the run; the user's rights are checked before each call."""
        starter = Owner(key.tenant_id, await self.starters.of(key))

        async def look_again() -> None:
            nonlocal starter
            starter = Owner(key.tenant_id, await self.starters.of(key))

        return self.workspace.for_flow(
            lambda: starter, root_path=root_path, read_only=read_only, before_each=look_again
        )
