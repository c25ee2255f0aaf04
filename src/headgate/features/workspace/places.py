"""Whose files a tool touches: decided at each call, by who asks and how Headgate is set up (seed 003, ADR-001)."""

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
from headgate.features.workspace.folder import Folder, told
from headgate.features.workspace.names import path_parts
from headgate.features.workspace.pepper import compute_user_namespace, load_or_create_pepper
from headgate.features.workspace.root import Root
from headgate.foundation.private_files import private_folder
from headgate.foundation.settings import Settings

SHARED_NAMESPACE = "shared"
USERS = "users"

THREADS = 4
"""Calls of one process that touch the disk at once; the rest waits."""

Found = TypeVar("Found")
Mode = Literal["shared", "isolated"]


@dataclass(frozen=True, slots=True)
class Owner:
    """A person, as the workspace knows them."""

    tenant_id: str
    user_id: str
    """Empty: nobody."""


def owner_of(principal: Principal) -> Owner:
    """Who a principal is to the workspace."""
    return Owner(principal.tenant_id, principal.user_id)


class Places:
    """Where the workspaces of an installation are.

    With auto-login a flow's files are those of the one local user, in `<BASE>/shared`. Everything else, and every
    agent's, is in `<BASE>/users/<namespace>`; with nobody signed in there is nothing.

    Args:
        settings: Where the folders are and what one person may keep.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="workspace")

    async def in_thread(self, work: Callable[[], Found]) -> Found:
        """Do what waits for the disk in a thread of the workspaces' own, so that a slow disk holds up nothing else."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @property
    def base(self) -> Path:
        """The folder of all workspaces."""
        return self.settings.workspace.base_dir or self.settings.data_dir / "workspace"

    @property
    def auto_login(self) -> bool:
        """Whether there is one local user and nobody signs in."""
        return self.settings.server.auto_login

    def mode(self, owner: Owner, *, isolated: bool = False) -> Mode:
        """Which layout holds for somebody now.

        Args:
            owner: Who asks.
            isolated: Whether it is theirs alone, also with auto-login.

        Raises:
            UserRequired: Nobody is signed in. Nothing has been touched.
        """
        if self.auto_login and not isolated and owner.tenant_id == DEFAULT_TENANT_ID:
            return "shared"
        if owner.user_id and owner.tenant_id:
            return "isolated"
        if self.auto_login:
            raise UserRequired("FileSystemTool requires an authenticated user here", remedy="Ask as a person.")
        raise UserRequired(
            "FileSystemTool requires an authenticated user when AUTO_LOGIN=False",
            remedy="Start the run as somebody, or with an API key, which acts for a person.",
        )

    @contextmanager
    def open(self, owner: Owner, sub_path: Sequence[str] = (), *, isolated: bool = False) -> Iterator[Root]:
        """Hold somebody's workspace open; its folders are made where they are missing.

        Args:
            owner: Whose it is.
            sub_path: The folder in it where paths begin.
            isolated: Whether it is theirs alone, also with auto-login.

        Raises:
            UserRequired, WorkspaceUnavailable
        """
        mode = self.mode(owner, isolated=isolated)
        with self._base() as base, self._namespace(base, owner, mode) as (whole, name):
            with told("/".join(sub_path), "Folder"):
                folder = whole.below(sub_path, create=True)
            with folder:
                yield Root(base, whole, folder, self.settings, name)

    @contextmanager
    def _base(self) -> Iterator[Folder]:
        if os.open not in os.supports_dir_fd:
            raise WorkspaceUnavailable(
                "Workspaces need a system that opens files from an open folder.", remedy="Use Linux or macOS."
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
        """The folder of a workspace, and its name below the base."""
        name = SHARED_NAMESPACE if mode == "shared" else USERS
        try:
            if mode == "isolated":
                pepper = load_or_create_pepper(base)
                name = f"{USERS}/{compute_user_namespace(pepper, owner.tenant_id, owner.user_id)}"
            found = base.below(name.split("/"), create=True)
        except OSError as error:
            raise self._cannot_create(self.base / name, error) from error
        with found:
            yield found, name

    def _cannot_create(self, place: Path, error: OSError) -> WorkspaceUnavailable:
        return WorkspaceUnavailable(
            f"Cannot create user namespace at {place}: {error.strerror}. Check that HEADGATE_WORKSPACE__BASE_DIR "
            f"({self.base}) is writable by the Headgate process user."
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """Whose workspace some tools are for: one person's, from when they were made.

    Args:
        places: Where the workspaces are.
        owner: Who they were made for.
        now: Who uses them at this moment.
        root_path: The folder in the workspace where paths begin, as somebody wrote it.
        isolated: Whether it is the person's alone, also with auto-login.
    """

    places: Places
    owner: Owner
    now: Callable[[], Owner]
    root_path: str = ""
    isolated: bool = False

    @contextmanager
    def open(self) -> Iterator[Root]:
        """Hold the workspace open.

        Raises:
            WrongUser: Somebody else uses the tools.
            UserRequired, WorkspaceUnavailable: What opening raises.
            PathEscapes, PathReserved, PathNotPortable: The root path is none.
        """
        self.mode()
        with self.places.open(self.owner, path_parts(self.root_path), isolated=self.isolated) as root:
            yield root

    async def run(self, work: Callable[[Root], Found]) -> Found:
        """Do work on the open workspace, off the event loop. Raises what `open` raises, and what the work raises."""

        def opened() -> Found:
            with self.open() as root:
                return work(root)

        return await self.places.in_thread(opened)

    def mode(self) -> Mode:
        """Which layout holds now. Raises `UserRequired`, `WrongUser`."""
        now = self.now()
        mode = self.places.mode(now, isolated=self.isolated)
        if mode == "isolated" and now != self.owner:
            raise WrongUser
        return mode
