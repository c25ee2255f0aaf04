"""File tools: the workspace of the person who works here. They answer with the envelopes of seed 003."""

from typing import Literal

from headgate.features.workspace.errors import WrongUser
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_LINES = 2_000
"""Of a file that is read without a limit."""
MOST_CHARACTERS = 100_000
"""Of what a model is shown of a file at once."""


async def read_file(bench: Workbench, path: str, offset: int | None = None, limit: int | None = None) -> Result:
    """Read a text file of the user's workspace, lines numbered, at most 2,000 at a time.

    Args:
        path: Relative, such as notes/plan.md.
        offset: First line, from 1.
        limit: How many lines.
    """
    lines = min(limit, MOST_LINES) if limit is not None else MOST_LINES
    answer = await _files(bench).read_file(path, offset=offset, limit=lines)
    content = str(answer.get("content", ""))
    if len(content) > MOST_CHARACTERS:
        shown = content[:MOST_CHARACTERS].rpartition("\n")[0] or content[:MOST_CHARACTERS]
        return answer | {"content": shown, "num_lines": shown.count("\n") + 1, "truncated": True}
    return answer


async def write_file(bench: Workbench, path: str, content: str) -> Result:
    """Write a whole text file in the user's workspace, replacing an older one. The user sees it in the conversation.

    Args:
        path: Relative, such as FLOW_DOCS.md.
        content: All of its text.
    """
    answer = await _files(bench).write_file(path, content)
    if "error" not in answer:
        bench.on_file({"action": "write_file", "path": path, "size": answer["bytes_written"], "content": content})
    return answer


async def edit_file(
    bench: Workbench, path: str, old_string: str, new_string: str, *, replace_all: bool = False
) -> Result:
    """Replace a text in a file of the user's workspace. Read the file first.

    Args:
        path: Relative path.
        old_string: Exactly as in the file, without line numbers.
        new_string: The replacement.
        replace_all: Everywhere; otherwise it must occur once.
    """
    files = _files(bench)
    answer = await files.edit_file(path, old_string, new_string, replace_all=replace_all)
    if "error" not in answer:
        bench.on_file({"action": "edit_file", "path": path, "size": await files.file_size(path)})
    return answer


async def glob_search(bench: Workbench, pattern: str, path: str = "") -> Result:
    """Find files of the user's workspace by name.

    Args:
        pattern: Such as **/*.md; ** for every file.
        path: Folder to look in.
    """
    return await _files(bench).glob_search(pattern, path)


async def grep_search(
    bench: Workbench,
    pattern: str,
    path: str = "",
    *,
    glob: str = "",
    case_insensitive: bool = False,
    output_mode: Literal["files_with_matches", "content", "count"] = "files_with_matches",
    is_regex: bool = False,
) -> Result:
    """Find a text in the files of the user's workspace.

    Args:
        pattern: The text.
        path: Folder or file to look in.
        glob: Only such files, *.md.
        case_insensitive: Ignore case.
        output_mode: What to show.
        is_regex: The pattern is an RE2 expression.
    """
    return await _files(bench).grep_search(
        pattern,
        path,
        glob=glob,
        case_insensitive=case_insensitive,
        output_mode=output_mode,
        is_regex=is_regex,
    )


def _files(bench: Workbench) -> UserWorkspace:
    """The workspace. Raises `ToolRefused` where there is none, `WrongUser` when it is another person's."""
    if bench.files is None:
        raise ToolRefused("There is no workspace here.", remedy="Go on without files.")
    if not bench.files.belongs_to(bench.principal):
        raise WrongUser
    return bench.files
