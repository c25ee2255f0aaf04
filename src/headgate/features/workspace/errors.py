"""Errors of a workspace. A tool returns only `detail`; a route and a command add the remedy.

Forbidden
├── PathEscapes            the path leads out of the workspace, or through a link
├── PathReserved           the path is reserved by Headgate
├── UserRequired           no user is signed in, so there is no workspace; nothing was changed
├── WrongUser              the tools belong to another user's session
└── WorkspaceReadOnly      the step allows reading only
NotFound
└── WorkspaceFileNotFound  no such file
Invalid
├── PathNotPortable        a name that some systems do not support
├── NotATextFile           a folder, a special file, or binary content
├── EditNotPossible        the text to replace is missing or not unique
├── PatternRefused         an invalid search pattern
├── BadArgument            an invalid number or choice
└── UserComponentError     a component that cannot be stored
TooLarge
├── WorkspaceFileTooLarge  over 10 MiB
└── WorkspaceFull          over the user's quota
Unavailable
└── WorkspaceUnavailable   the folder cannot be created, read or written
"""

from headgate.foundation.errors import Forbidden, Invalid, NotFound, TooLarge, Unavailable


class PathEscapes(Forbidden):
    """The path leads out of the workspace."""

    code = "workspace_path_escapes"
    title = "Outside the workspace"
    remedy = "Use a path inside the workspace, such as notes/plan.md."
    detail = "Path escapes workspace boundary: {}"


class PathReserved(Forbidden):
    """The path is reserved by Headgate."""

    code = "workspace_path_reserved"
    title = "Reserved name"
    detail = "Path component '{}' is reserved"
    remedy = "Choose a different name."


class UserRequired(Forbidden):
    """There is no workspace without a user."""

    code = "workspace_user_required"
    title = "Workspace requires a user"


class WrongUser(Forbidden):
    """The tools belong to another user's session."""

    code = "workspace_user_mismatch"
    title = "Workspace of another user"
    detail = "tool/user-id mismatch: this tool was bound to a different user session and cannot be reused"
    remedy = "Create the tools again for the current user."


class WorkspaceReadOnly(Forbidden):
    """The step allows reading only."""

    code = "workspace_read_only"
    title = "Read only"
    detail = "{} is not allowed: this workspace is read-only"
    remedy = "Use the tools that read and search."


class WorkspaceFileNotFound(NotFound):
    """There is no such file."""

    code = "workspace_file_not_found"
    title = "File not found"

    def __init__(self, path: str, what: str = "File") -> None:
        super().__init__(f"{what} not found: {path}", remedy="List the files to see their names.")


class PathNotPortable(Invalid):
    """A name that some systems do not support."""

    code = "workspace_path_not_portable"
    title = "Invalid name"


class NotATextFile(Invalid):
    """A folder, a special file, or binary content."""

    code = "workspace_not_a_text_file"
    title = "Not a text file"


class EditNotPossible(Invalid):
    """The text to replace is missing or not unique."""

    code = "workspace_edit_not_possible"
    title = "Edit not applied"


class PatternRefused(Invalid):
    """An invalid search pattern."""

    code = "workspace_pattern_refused"
    title = "Pattern refused"


class BadArgument(Invalid):
    """An invalid number or choice."""

    code = "workspace_bad_argument"
    title = "Invalid argument"


class UserComponentError(Invalid):
    """A component that cannot be stored."""

    code = "user_component_refused"
    title = "Component not stored"


class WorkspaceFileTooLarge(TooLarge):
    """Over the limit of one file."""

    code = "workspace_file_too_large"
    title = "File too large"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"Content size {size} exceeds limit of {limit} bytes", remedy="Split the file.")


class WorkspaceFull(TooLarge):
    """Over the quota of one user."""

    code = "workspace_full"


class WorkspaceUnavailable(Unavailable):
    """The folder cannot be created, read or written."""

    code = "workspace_unavailable"
    title = "Workspace not available"
