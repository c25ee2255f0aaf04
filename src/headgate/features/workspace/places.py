"""Selects the folder of a tool call: decided at each call, by the user and the configuration (seed 003, ADR-001)."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from headgate.features.access.principal import DEFAULT_TENANT_ID, Principal
from headgate.features.workspace.errors import UserRequired, WorkspaceUnavailable, WrongUser
from headgate.features.workspace.folder import Folder, workspace_errors
from headgate.features.workspace.names import path_parts
from headgate.features.workspace.pepper import compute_user_namespace, load_or_create_pepper
from headgate.features.workspace.root import Root
from headgate.foundation.private_files import private_folder
from headgate.foundation.settings import Settings

SHARED_NAMESPACE = "shared"
USERS = "users"

THREADS = 4
"""Maximum concurrent calls of one process that use the disk."""

Found = TypeVar("Found")
Mode = Literal["shared", "isolated"]


@dataclass(frozen=True, slots=True)
class Owner:
    """A user of the workspace."""

    tenant_id: str
    user_id: str
    """Empty: no user."""


def owner_of(principal: Principal) -> Owner:
    """Return the workspace owner of a principal."""
    return Owner(principal.tenant_id, principal.user_id)


class Places:
    """Locations of the workspaces of an installation.

    With auto-login a flow's files are those of the one local user, in `<BASE>/shared`. Everything else, and every
    agent's, is in `<BASE>/users/<namespace>`; without a signed-in user there is no workspace.

    Args:
        settings: The folders, and the quota of a user.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="workspace")

    async def in_thread(self, work: Callable[[], Found]) -> Found:
        """Run disk operations in a dedicated thread pool, so that a slow disk blocks nothing else."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @property
    def base(self) -> Path:
        """Return the folder of all workspaces."""
        return self.settings.workspace.base_dir or self.settings.data_dir / "workspace"

    @property
    def auto_login(self) -> bool:
        """Return whether there is one local user and no sign-in."""
        return self.settings.server.auto_login

    def mode(self, owner: Owner, *, isolated: bool = False) -> Mode:
        """Return the current layout for a user.

        Args:
            owner: The user.
            isolated: Whether it is the user's alone, also with auto-login.

        Raises:
            UserRequired: No user is signed in. Nothing was changed.
        """
        if self.auto_login and not isolated and owner.tenant_id == DEFAULT_TENANT_ID:
            return "shared"
        if owner.user_id and owner.tenant_id:
            return "isolated"
        if self.auto_login:
            raise UserRequired("FileSystemTool requires an authenticated user here", remedy="Sign in as a user.")
        raise UserRequired(
            "FileSystemTool requires an authenticated user when AUTO_LOGIN=False",
            remedy="Start the run as a signed-in user, or with an API key, which acts for a user.",
        )

    @contextmanager
    def open(self, owner: Owner, sub_path: Sequence[str] = (), *, isolated: bool = False) -> Iterator[Root]:
        """Open a user's workspace; missing folders are created.

        Args:
            owner: The user.
            sub_path: The folder in it where paths begin.
            isolated: Whether it is the user's alone, also with auto-login.

        Raises:
            UserRequired, WorkspaceUnavailable
        """
        mode = self.mode(owner, isolated=isolated)
        with self._base() as base, self._namespace(base, owner, mode) as (workspace, name):
            with workspace_errors("/".join(sub_path), "Folder"):
                folder = workspace.below(sub_path, create=True)
            with folder:
                yield Root(base, workspace, folder, self.settings, name)

    @contextmanager
    def _base(self) -> Iterator[Folder]:
        if os.open not in os.supports_dir_fd:
            raise WorkspaceUnavailable(
                "Workspaces require a system that can open files relative to an open folder.",
                remedy="Use Linux or macOS.",
            )
        try:
            private_folder(self.base)
            base = Folder(os.open(self.base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError as error:
            raise self._cannot_create(self.base / USERS, error) from error
        with base:
            yield base

    @contextmanager
    def _namespace(self, base: Folder, owner: Owner, mode: Mode) -> Iterator[tuple[Folder, str]]:
        """Open the folder of a workspace; returns it with its name below the base."""
        name = SHARED_NAMESPACE if mode == "shared" else USERS
        try:
            if mode == "isolated":
                pepper = load_or_create_pepper(base)
                name = f"{USERS}/{compute_user_namespace(pepper, owner.tenant_id, owner.user_id)}"
            folder = base.below(name.split("/"), create=True)
        except OSError as error:
            raise self._cannot_create(self.base / name, error) from error
        with folder:
            yield folder, name

    def _cannot_create(self, path: Path, error: OSError) -> WorkspaceUnavailable:
        return WorkspaceUnavailable(
            f"Cannot create user namespace at {path}: {error.strerror}. Check that HEADGATE_WORKSPACE__BASE_DIR "
            f"({self.base}) is writable by the Headgate process user."
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """Binds tools to one user's workspace, from their creation on.

    Args:
        places: Locations of the workspaces.
        owner: The user at their creation.
        now: Returns the current user.
        root_path: The folder in the workspace where paths begin, as configured.
        isolated: Whether it is the user's alone, also with auto-login.
    """

    places: Places
    owner: Owner
    now: Callable[[], Owner]
    root_path: str = ""
    isolated: bool = False

    @contextmanager
    def open(self) -> Iterator[Root]:
        """Open the workspace.

        Raises:
            WrongUser: Another user uses the tools.
            UserRequired, WorkspaceUnavailable: As for opening it.
            PathEscapes, PathReserved, PathNotPortable: The root path is invalid.
        """
        self.mode()
        with self.places.open(self.owner, path_parts(self.root_path), isolated=self.isolated) as root:
            yield root

    async def run(self, work: Callable[[Root], Found]) -> Found:
        """Run work on the open workspace, off the event loop. Raises like `open` and like the work."""

        def opened() -> Found:
            with self.open() as root:
                return work(root)

        return await self.places.in_thread(opened)

    def mode(self) -> Mode:
        """Return the current layout. Raises `UserRequired`, `WrongUser`."""
        now = self.now()
        mode = self.places.mode(now, isolated=self.isolated)
        if mode == "isolated" and now != self.owner:
            raise WrongUser
        return mode
