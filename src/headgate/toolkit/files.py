"""File tools: the user's workspace. Their results have the form of seed 003."""

from bisect import bisect_right
from itertools import accumulate
from typing import Literal, cast

from headgate.features.workspace.errors import WrongUser
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_LINES = 2_000
"""Lines of a file that is read without a limit."""
MOST_CHARACTERS = 15_000
"""Characters of one page of a file: an MCP client that only shows text shows all of it."""


async def read_file(bench: Workbench, path: str, offset: int | None = None, limit: int | None = None) -> Result:
    """Read a text file of the user's workspace in pages, with line numbers.

    Args:
        path: Relative, for example notes/plan.md.
        offset: First line, from 1.
        limit: Number of lines.
    """
    lines = min(limit, MOST_LINES) if limit is not None else MOST_LINES
    answer = await _files(bench).read_file(path, offset=offset, limit=lines)
    content = str(answer.get("content", ""))
    if "error" in answer:
        return answer
    if len(content) > MOST_CHARACTERS:
        answer |= _page(content)
    following = cast("int", answer["start_line"]) + cast("int", answer["num_lines"])
    return answer | ({"next_offset": following} if following <= cast("int", answer["total_lines"]) else {})


def _page(content: str) -> Result:
    """Return as many lines as fit a page; of a longer line, its beginning with a mark."""
    lines = content.split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    number = max(1, bisect_right(ends, MOST_CHARACTERS))
    shown = "\n".join(lines[:number])
    if len(shown) > MOST_CHARACTERS:
        shown = f"{shown[:MOST_CHARACTERS]}… [{len(shown) - MOST_CHARACTERS:,} more characters of this line]"
    return {"content": shown, "num_lines": number}


async def write_file(bench: Workbench, path: str, content: str) -> Result:
    """Write a complete text file in the user's workspace, replacing an existing one. The user sees it.

    Args:
        path: Relative, such as FLOW_DOCS.md.
        content: Its complete text.
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
        old_string: Exact text, without line numbers.
        new_string: The replacement.
        replace_all: All occurrences; otherwise it must be unique.
    """
    files = _files(bench)
    answer = await files.edit_file(path, old_string, new_string, replace_all=replace_all)
    if "error" not in answer:
        bench.on_file({"action": "edit_file", "path": path, "size": await files.file_size(path)})
    return answer


async def glob_search(bench: Workbench, pattern: str, path: str = "") -> Result:
    """Find files of the user's workspace by name.

    Args:
        pattern: For example **/*.md; ** for every file.
        path: Folder to search.
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
    """Search the files of the user's workspace for a text.

    Args:
        pattern: The text.
        path: Folder or file to search.
        glob: Only such files, *.md.
        case_insensitive: Ignore case.
        output_mode: Form of the results.
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
    """Return the workspace. Raises `ToolRefused` without one, `WrongUser` for another user's."""
    if bench.files is None:
        raise ToolRefused("No workspace is available.", remedy="Continue without files.")
    if not bench.files.belongs_to(bench.principal):
        raise WrongUser
    return bench.files
