"""The component for workspace files of the user who runs the flow, for an agent."""

from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from headgate.sdk import Component, Data, Tool, WorkspaceTools, field, output

MOST_LINES = 2_000
"""Maximum size of a file that an agent reads at once."""

Answer = dict[str, JsonValue]
PATH = Field(description="Relative path, such as notes/plan.md.", max_length=1_024)


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReadFileArgs(_Arguments):
    """Read a text file of the workspace; each line comes with its number. At most 2,000 lines at a time."""

    path: str = PATH
    offset: int | None = Field(default=None, description="First line, counted from 1.")
    limit: int | None = Field(default=None, description="How many lines.")

    async def do(self, files: WorkspaceTools) -> Answer:
        """Execute it."""
        return await files.read_file(self.path, self.offset, min(self.limit or MOST_LINES, MOST_LINES))


class WriteFileArgs(_Arguments):
    """Write a text file in the workspace, whole; the folders it needs are made, an older file is replaced."""

    path: str = PATH
    content: str = Field(description="The complete text of the file.")

    async def do(self, files: WorkspaceTools) -> Answer:
        """Execute it."""
        return await files.write_file(self.path, self.content)


class EditFileArgs(_Arguments):
    """Put one text in the place of another in a file of the workspace. Read the file first."""

    path: str = PATH
    old_string: str = Field(description="The text to replace, exactly as the file has it, without line numbers.")
    new_string: str = Field(description="The replacement text.")
    replace_all: bool = Field(
        default=False, description=("Replace every occurrence; otherwise the text must occur exactly once.")
    )

    async def do(self, files: WorkspaceTools) -> Answer:
        """Execute it."""
        return await files.edit_file(self.path, self.old_string, self.new_string, replace_all=self.replace_all)


class GlobSearchArgs(_Arguments):
    """Find files of the workspace by name. `**/*.md` finds every Markdown file, `**` every file."""

    pattern: str = Field(description="Name pattern: * and ? match characters, ** matches any folders.")
    path: str = Field(default="", description="Folder to search; empty searches everywhere.")

    async def do(self, files: WorkspaceTools) -> Answer:
        """Execute it."""
        return await files.glob_search(self.pattern, self.path)


class GrepSearchArgs(_Arguments):
    """Find a text in the files of the workspace."""

    pattern: str = Field(description="The text to find; a regular expression with is_regex.")
    path: str = Field(default="", description="Folder or file to search; empty searches everywhere.")
    glob: str = Field(default="", description="Only files whose name matches, such as *.md.")
    case_insensitive: bool = Field(default=False, description="Whether to ignore upper and lower case.")
    output_mode: Literal["files_with_matches", "content", "count"] = Field(
        default="files_with_matches", description="Names of files, matching lines, or number of lines per file."
    )
    is_regex: bool = Field(default=False, description="Whether the pattern is a regular expression (RE2 syntax).")

    async def do(self, files: WorkspaceTools) -> Answer:
        """Execute it."""
        return await files.grep_search(
            self.pattern,
            self.path,
            glob=self.glob,
            case_insensitive=self.case_insensitive,
            output_mode=self.output_mode,
            is_regex=self.is_regex,
        )


Arguments = ReadFileArgs | WriteFileArgs | EditFileArgs | GlobSearchArgs | GrepSearchArgs
READING: dict[str, type[Arguments]] = {
    "read_file": ReadFileArgs,
    "glob_search": GlobSearchArgs,
    "grep_search": GrepSearchArgs,
}
WRITING: dict[str, type[Arguments]] = {"write_file": WriteFileArgs, "edit_file": EditFileArgs}


class WorkspaceFiles(Component):
    """Gives an agent the files of the user who runs the flow: read, write, edit and search, in a folder of their own.

    Connect its `tools` output to the agent's. Everybody's files are apart; with auto-login there is one folder. A run
    that nobody started has no files where people sign in.
    """

    label = "Workspace files"
    category = "data"
    effect = True
    icon = "folder"
    keywords = (
        "file", "files", "filesystem", "folder", "workspace", "write file", "read file", "edit", "search", "grep",
        "notes", "document", "agent", "tools", "disk",
    )  # fmt: skip

    root_path: str = field(
        default="",
        label="Workspace Sub-path",
        help="Root folder of the agent's paths in the workspace; empty is the complete workspace.",
        port=False,
        interpolate=False,
        max_length=1_024,
    )
    read_only: bool = field(
        default=False, label="Read only", help="Removes write_file and edit_file.", port=False, interpolate=False
    )

    @output(name="tools", label="Tools", help="The file tools. Nothing is accessed until one is called.")
    async def give_tools(self) -> list[Tool]:
        """Return the tools, bound to the user who started the run."""
        files = await self._files()
        tools = READING if self.read_only else READING | WRITING
        return [_tool(name, arguments, files) for name, arguments in tools.items()]

    @output(name="metadata", label="Metadata", help="Owner and location of the folder, or why it is not available.")
    async def describe(self) -> Data:
        """Return auto_login, mode, effective_root, resolution_error, read_only and root_path."""
        files = await self._files()
        return await files.metadata()

    async def _files(self) -> WorkspaceTools:
        return await self.ctx.workspace(self.root_path, read_only=self.read_only)


def _tool(name: str, arguments: type[Arguments], files: WorkspaceTools) -> Tool:
    async def call(given: dict[str, JsonValue]) -> JsonValue:
        try:
            checked = arguments.model_validate(given)
        except ValidationError as error:
            faults = [
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)
            ]
            return {"error": f"{name}: {'; '.join(faults)}", "path": str(given.get("path", ""))[:1_024]}
        return await checked.do(files)

    return Tool(
        name=name,
        description=arguments.__doc__ or "",
        parameters=cast("dict[str, JsonValue]", arguments.model_json_schema()),
        call=call,
    )
