"""The five file tools of one user's workspace: JSON results, never an exception (seed 003)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from headgate.features.access.principal import Principal
from headgate.features.workspace import searching, text
from headgate.features.workspace.errors import PathEscapes, PathReserved, UserRequired, WorkspaceReadOnly, WrongUser
from headgate.features.workspace.names import path_parts
from headgate.features.workspace.places import Binding, owner_of
from headgate.features.workspace.root import Root
from headgate.features.workspace.text import Answer
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import Instruments

logger = get_logger(__name__)
BeforeEach = Callable[[], Awaitable[None]]
WRITING = frozenset({"write_file", "edit_file"})


class UserWorkspace:
    """A user's own files, for an agent or a step.

    Every tool returns `status` and its result, or `error` and `path`.

    Args:
        binding: The user's workspace.
        read_only: Whether writing is refused.
        metrics: Counts the calls.
        before_each: Awaited before each call, to determine the current user.
    """

    def __init__(
        self,
        binding: Binding,
        *,
        read_only: bool = False,
        metrics: Instruments | None = None,
        before_each: BeforeEach | None = None,
    ) -> None:
        self.binding = binding
        self.read_only = read_only
        self._metrics = metrics or Instruments()
        self._before_each = before_each

    def belongs_to(self, principal: Principal) -> bool:
        """Return whether these files belong to the caller."""
        return self.binding.owner == owner_of(principal)

    @property
    def is_that_of_flows(self) -> bool:
        """Return whether flow steps of the same user use the same folder."""
        places, owner = self.binding.places, self.binding.owner
        try:
            return places.mode(owner) == places.mode(owner, isolated=self.binding.isolated)
        except UserRequired:
            return False

    async def location(self) -> Path:
        """Return the folder of the server that has the files. Raises `UserRequired`, `WorkspaceUnavailable`."""
        return await self.binding.run(lambda root: self.binding.places.base / root.name)

    async def file_size(self, path: str) -> int | None:
        """Return the size of a file; None when unknown."""
        try:
            return await self.binding.run(lambda root: _size(root, path))
        except (HeadgateError, OSError):
            return None

    async def read_file(self, path: str, offset: int | None = None, limit: int | None = None) -> Answer:
        """Return lines of a text file with their numbers, from line `offset`, at most `limit` of them."""
        return await self._answer(
            "read_file", path, lambda root: text.read_file(root, path, offset=offset, limit=limit)
        )

    async def write_file(self, path: str, content: str) -> Answer:
        """Write a complete file, with its missing folders."""
        return await self._answer("write_file", path, lambda root: text.write_file(root, path, content))

    async def edit_file(self, path: str, old_string: str, new_string: str, *, replace_all: bool = False) -> Answer:
        """Replace a text that occurs once, or everywhere with `replace_all`."""

        def work(root: Root) -> Answer:
            return text.edit_file(root, path, old_string, new_string, replace_all=replace_all)

        return await self._answer("edit_file", path, work)

    async def glob_search(self, pattern: str, path: str = "") -> Answer:
        """Return files whose path matches a pattern, below a folder."""
        return await self._answer("glob_search", path, lambda root: searching.glob_search(root, pattern, path))

    async def grep_search(
        self,
        pattern: str,
        path: str = "",
        *,
        glob: str = "",
        case_insensitive: bool = False,
        output_mode: str = "files_with_matches",
        is_regex: bool = False,
    ) -> Answer:
        """Return files, lines or line numbers that contain a text, or match a regular expression."""

        def work(root: Root) -> Answer:
            return searching.grep_search(
                root,
                pattern,
                path,
                glob=glob,
                case_insensitive=case_insensitive,
                output_mode=output_mode,
                is_regex=is_regex,
            )

        return await self._answer("grep_search", path, work)

    async def read_content(self, path: str) -> bytes:
        """Return a file's content, also binary. Raises errors of opening it."""
        if self._before_each is not None:
            await self._before_each()
        return await self.binding.run(lambda root: text.read_bytes(root, path))

    async def metadata(self) -> Answer:
        """Return the current owner of these files.

        `resolution_error` says why there are none, and is null when there are; `effective_root` is the folder below the
        base, whose name reveals nothing about the user.
        """
        error, root = "", ""
        try:
            if self._before_each is not None:
                await self._before_each()
            root = await self.binding.run(self._effective_root)
        except HeadgateError as failed:
            error = failed.detail
        return {
            "auto_login": self.binding.places.auto_login,
            "mode": self._mode(),
            "effective_root": root or None,
            "resolution_error": error or None,
            "read_only": self.read_only,
            "root_path": self.binding.root_path,
        }

    def _effective_root(self, root: Root) -> str:
        return "/".join((root.name, *path_parts(self.binding.root_path)))

    async def _answer(self, action: str, path: str, work: Callable[[Root], Answer]) -> Answer:
        """Run the work off the event loop, and convert errors to the tool's results."""
        try:
            if self._before_each is not None:
                await self._before_each()
            if self.read_only and action in WRITING:
                raise WorkspaceReadOnly(action)  # noqa: TRY301 - told like every other refusal
            result = await self.binding.run(work)
        except HeadgateError as error:
            self._metrics.count("filesystem_tool_calls", action, self._outcome(error))
            return {"error": error.detail, "path": _shown(path)}
        except Exception as error:
            mistake = error if not isinstance(error, OSError) else None  # a disk error is not the caller's mistake
            logger.warning("workspace.tool_failed", action=action, reason=type(error).__name__, exc_info=mistake)
            self._metrics.count("filesystem_tool_calls", action, "error")
            return {"error": f"{action} failed: {type(error).__name__}", "path": _shown(path)}
        self._metrics.count("filesystem_tool_calls", action, "ok")
        return result

    def _outcome(self, error: HeadgateError) -> str:
        if isinstance(error, PathEscapes | PathReserved):
            self._metrics.count("filesystem_tool_boundary_violations", self._mode())
            return "boundary"
        if isinstance(error, UserRequired | WrongUser):
            self._metrics.count("filesystem_tool_refused")
            return "refused"
        return "error"

    def _mode(self) -> str:
        try:
            return self.binding.mode()
        except HeadgateError:
            return "refused"


def _size(root: Root, path: str) -> int | None:
    *folders, name = text.file_parts(path)
    with root.folder.below(folders) as folder:
        return folder.size_of(name)


def _shown(path: str) -> str:
    """Return a path for display, without invalid Unicode and of limited length."""
    return path[:1_024].encode(errors="replace").decode()
