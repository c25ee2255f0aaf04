"""What a step would change or read outside the run, in one sentence. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Final

from pydantic import JsonValue

from headgate.graph.plan import PlanStep

LONGEST = 300
LONGEST_VALUE = 100
PATTERNS: Final[Mapping[str, str]] = {
    "SendMail": "Sends a mail to {to}, subject '{subject}', with the connection '{server}'.",
    "ReadMail": (
        "Reads up to {most_messages} messages of {folder} with the connection '{mailbox}', which changes nothing."
    ),
    "ReadMail and mark": (
        "Reads up to {most_messages} messages of {folder} with the connection '{mailbox}' and marks them as read."
    ),
    "Notify": "Sends a notification with the connection '{service}'.",
    "ApiCall": "Calls the operation {operation} of the API of the connection '{connection}'.",
    "RunFlow": "Runs the flow '{flow}'.",
    "ForEach": "Runs the flow '{flow}' for each item, {parallel} at a time.",
    "Loop": "Runs the flow '{flow}' up to {most} times.",
    "SendEvent": "Sends the event '{event}' to steps that wait for it.",
    "WriteState": "Changes the value '{name}' of the state of the flow ({operation}).",
    "ForEachPage": "Reads up to {most_pages} pages of {url} and runs the flow '{flow}' for their items.",
    "FolderFiles": "Copies up to {most_files} files of the folder '{folder}' of the workspace into the run.",
    "FolderFiles of a storage": (
        "Reads up to {most_files} files of the folder '{folder}' with the connection '{storage}'."
    ),
    "WriteFile": "Writes files to the folder '{folder}' with the connection '{storage}'.",
    "MoveFile move": "Moves the file '{path}' to '{target}' with the connection '{storage}'.",
    "MoveFile copy": "Copies the file '{path}' to '{target}' with the connection '{storage}'.",
    "MoveFile delete": "Deletes the file '{path}' with the connection '{storage}'.",
    "GitFiles": "Reads up to {most_files} files ({pattern}) of the repository '{repository}', connection '{server}'.",
    "GitHistory": "Reads the history of the repository '{repository}' with the connection '{server}'.",
    "CommitFiles": (
        "Commits files to the branch '{branch}' of the repository '{repository}' with the connection '{server}'."
    ),
    "OpenChange": (
        "Opens a change of the branch '{branch}' into '{target}' in the repository '{repository}', "
        "connection '{server}'."
    ),
    "SqlQuery": "Reads rows of a database with the connection '{database}'; statements that change data are refused.",
    "SqlQuery of a file": "Reads a database in a file of the run, in the sandbox.",
    "SqlWrite": "Changes a database ({mode}, table {table}) with the connection '{database}'.",
    "SqlWrite statement": (
        "Changes a database (statement, one statement for each row) with the connection '{database}'."
    ),
    "SqlSchema": "Reads the tables and columns of a database with the connection '{database}'.",
    **dict.fromkeys(
        (
            *("SaveFile", "MakeDocument", "WriteSpreadsheet", "Chart"),
            *("QRCode", "CreateArchive", "CreateCalendar"),
        ),
        "Stores the file '{name}'.",
    ),
}
"""Sentences by type of step, with the names of fields in braces. The page has them in Swedish."""
_FILES: Final[Mapping[str, str]] = {
    "SaveFile": "result.txt",
    "MakeDocument": "document",
    "WriteSpreadsheet": "tables.xlsx",
    "Chart": "chart",
    "QRCode": "qr-code",
    "CreateArchive": "files.zip",
    "CreateCalendar": "calendar.ics",
}
_DEFAULTS: Final[Mapping[str, str]] = {
    "subject": "from the run",
    "most_messages": "20",
    "folder": "INBOX",
    "mode": "insert",
    "most_pages": "100",
    "most_files": "100",
    "parallel": "4",
    "operation": "set",
    "pattern": "**",
    "target": "main",
}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step would do: a sentence with placeholders, and their values."""

    pattern: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.pattern.format_map(self.values)[:LONGEST]


def effect_of(step: PlanStep) -> Effect:
    """Return what a step would do, as far as its fields are written; empty when it only computes."""
    type_, params = step.node.type, step.node.params
    pattern = PATTERNS.get(_variant(type_, params), "")
    names = [name for _, name, _, _ in Formatter().parse(pattern) if name]
    defaults = {**_DEFAULTS, "name": _FILES.get(type_, "?")}
    if type_ in {"FolderFiles", "WriteFile"}:
        defaults["folder"] = "/"
    return Effect(pattern, {name: _written(params, name, defaults.get(name, "?")) for name in names})


def _variant(type_: str, params: Mapping[str, JsonValue]) -> str:
    if type_ == "ReadMail" and params.get("mark_seen") is True:
        return "ReadMail and mark"
    if type_ == "FolderFiles" and params.get("storage"):
        return "FolderFiles of a storage"
    if type_ == "MoveFile":
        return f"MoveFile {params.get('action', 'move')}"
    if type_ in {"SqlQuery", "SqlSchema"} and not params.get("database"):
        return "SqlQuery of a file"
    if type_ == "SqlWrite" and params.get("mode") == "statement":
        return "SqlWrite statement"
    return type_


def _written(params: Mapping[str, JsonValue], name: str, default: str) -> str:
    """Return the text of a field as it is written, references included."""
    value = params.get(name)
    if isinstance(value, dict):  # the version of a flow
        value = value.get("name")
    return (
        " ".join(str(value).split())[:LONGEST_VALUE]
        if isinstance(value, str | int | float) and value != ""
        else default
    )
