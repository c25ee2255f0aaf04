"""What can go wrong in a workspace. A tool answers with `detail` alone; a route and a command add the remedy.

Forbidden
├── PathEscapes            the path leads out of the workspace, or through a link
├── PathReserved           the path names something that Headgate keeps for itself
├── UserRequired           nobody is signed in, so there is no workspace; nothing was touched
├── WrongUser              the tools belong to another person's session
└── WorkspaceReadOnly      the step's author allowed reading only
NotFound
└── WorkspaceFileNotFound  no such file
Invalid
├── PathNotPortable        a name that not every system takes
├── NotATextFile           a folder, a special file, or bytes that are no text
├── EditNotPossible        the text to replace is not there, or not only once
├── PatternRefused         a pattern that cannot be searched for
├── BadArgument            a number or choice that a tool does not take
└── UserComponentError     a component that cannot be kept
TooLarge
├── WorkspaceFileTooLarge  over 10 MiB
└── WorkspaceFull          over what a person may keep
Unavailable
└── WorkspaceUnavailable   the folder cannot be made, read or written
"""

from headgate.foundation.errors import Forbidden, Invalid, NotFound, TooLarge, Unavailable


class PathEscapes(Forbidden):
    """The path leads out of the workspace."""

    code = "workspace_path_escapes"
    title = "Outside the workspace"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Path escapes workspace boundary: {path}",
            remedy="Use a path inside the workspace, such as notes/plan.md.",
        )


class PathReserved(Forbidden):
    """The path names something that Headgate keeps for itself."""

    code = "workspace_path_reserved"
    title = "Reserved name"

    def __init__(self, segment: str) -> None:
        super().__init__(f"Path component '{segment}' is reserved", remedy="Choose a different name.")


class UserRequired(Forbidden):
    """There is no workspace without a person."""

    code = "workspace_user_required"
    title = "No workspace without a person"


class WrongUser(Forbidden):
    """The tools belong to another person's session."""

    code = "workspace_user_mismatch"
    title = "Another person's workspace"

    def __init__(self) -> None:
        super().__init__(
            "tool/user-id mismatch: this tool was bound to a different user session and cannot be reused",
            remedy="Make the tools anew for the person who asks.",
        )


class WorkspaceReadOnly(Forbidden):
    """The step's author allowed reading only."""

    code = "workspace_read_only"
    title = "Read only"

    def __init__(self, action: str) -> None:
        super().__init__(f"{action} is not allowed: this workspace is read-only here", remedy="Read and search only.")


class WorkspaceFileNotFound(NotFound):
    """There is no such file."""

    code = "workspace_file_not_found"
    title = "File not found"

    def __init__(self, path: str, what: str = "File") -> None:
        super().__init__(f"{what} not found: {path}", remedy="List the files to see what there is.")


class PathNotPortable(Invalid):
    """A name that not every system takes."""

    code = "workspace_path_not_portable"
    title = "Name not possible"


class NotATextFile(Invalid):
    """A folder, a special file, or bytes that are no text."""

    code = "workspace_not_a_text_file"
    title = "Not a text file"


class EditNotPossible(Invalid):
    """The text to replace is not there, or not only once."""

    code = "workspace_edit_not_possible"
    title = "Edit not possible"


class PatternRefused(Invalid):
    """A pattern that cannot be searched for."""

    code = "workspace_pattern_refused"
    title = "Pattern refused"


class BadArgument(Invalid):
    """A number or choice that a tool does not take."""

    code = "workspace_bad_argument"
    title = "Argument not possible"


class UserComponentError(Invalid):
    """A component that cannot be kept."""

    code = "user_component_refused"
    title = "Component not kept"


class WorkspaceFileTooLarge(TooLarge):
    """Over what one file may hold."""

    code = "workspace_file_too_large"
    title = "File too large"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"Content size {size} exceeds limit of {limit} bytes", remedy="Split the file.")


class WorkspaceFull(TooLarge):
    """Over what one person may keep."""

    code = "workspace_full"
    title = "Workspace full"


class WorkspaceUnavailable(Unavailable):
    """The folder cannot be made, read or written."""

    code = "workspace_unavailable"
    title = "Workspace not available"
