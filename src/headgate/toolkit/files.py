"""File tools: the workspace of the person who works here. They answer with the envelopes of seed 003."""

from bisect import bisect_right
from itertools import accumulate
from typing import Literal, cast

from headgate.features.workspace.errors import WrongUser
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_LINES = 2_000
"""Of a file that is read without a limit."""
MOST_CHARACTERS = 15_000
"""Of one page of a file: an MCP client that shows text alone shows it in full."""


async def read_file(bench: Workbench, path: str, offset: int | None = None, limit: int | None = None) -> Result:
    """Read a text file of the user's workspace in pages, lines numbered.

    Args:
        path: Relative, such as notes/plan.md.
        offset: First line, from 1; next_offset continues.
        limit: How many lines.
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
    """As many lines as a page holds; of a line that is longer than a page, its beginning with a mark."""
    lines = content.split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    number = max(1, bisect_right(ends, MOST_CHARACTERS))
    shown = "\n".join(lines[:number])
    if len(shown) > MOST_CHARACTERS:
        shown = f"{shown[:MOST_CHARACTERS]}… [{len(shown) - MOST_CHARACTERS:,} more characters of this line]"
    return {"content": shown, "num_lines": number}


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
