"""The built-in components. The module of a component is imported when the component is first used."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.sdk import Component

    BUILTINS: tuple[type[Component], ...]
    """All built-in components, in palette order; importing it imports them all."""

MODULES = {
    "ChatInput": ".inputs",
    "TextInput": ".inputs",
    "FormInput": ".inputs",
    "FileInput": ".inputs",
    "InstalledPackages": ".packages",
    "ChatOutput": ".outputs",
    "SaveFile": ".files.saving",
    "MakeDocument": ".files.documents",
    "WriteSpreadsheet": ".files.spreadsheets",
    "Chart": ".files.charts",
    "QRCode": ".files.qr_codes",
    "CreateArchive": ".files.archives",
    "CreateCalendar": ".data.calendars",
    "WebhookOut": ".web.webhook",
    "SendMail": ".mail.sending",
    "Notify": ".mail.notifying",
    "PromptTemplate": ".text",
    "CombineText": ".text",
    "SplitText": ".splitting",
    "Regex": ".matching",
    "ParseJSON": ".data.json_data",
    "SelectData": ".data.json_data",
    "TableQuery": ".data.table_query",
    "ReadFile": ".files.read_file",
    "SqlQuery": ".sql.components",
    "SqlWrite": ".sql.components",
    "SqlSchema": ".sql.components",
    "ReadMail": ".mail.reading",
    "ReadSpreadsheet": ".files.spreadsheets",
    "ExtractArchive": ".files.archives",
    "FolderFiles": ".files.folder_files",
    "WriteFile": ".storage.components",
    "MoveFile": ".storage.components",
    "GitFiles": ".git.reading",
    "GitHistory": ".git.reading",
    "CommitFiles": ".git.writing",
    "OpenChange": ".git.writing",
    "ConvertImage": ".files.images",
    "ExtractXML": ".web.extraction",
    "Calculator": ".calculator",
    "CurrentDate": ".clock",
    "DateMath": ".data.dates",
    "ReadCalendar": ".data.calendars",
    "MessageHistory": ".data.json_data",
    "ReadState": ".state",
    "WriteState": ".state",
    "HTTPRequest": ".web.requests",
    "ApiCall": ".web.api_call",
    "McpCall": ".mcp_call",
    "URL": ".web.requests",
    "ExtractHTML": ".web.extraction",
    "ReadFeed": ".web.feeds",
    "ReadSitemap": ".web.feeds",
    "If": ".logic",
    "Switch": ".switch",
    "Merge": ".logic",
    "Map": ".mapping",
    "RunFlow": ".subflows",
    "ForEach": ".iteration",
    "ForEachPage": ".web.pages",
    "Loop": ".subflows",
    "Wait": ".clock",
    "WaitForEvent": ".sent_events",
    "WaitForState": ".state",
    "SendEvent": ".sent_events",
    "Approval": ".approval",
    "Python": ".code",
    "LanguageModel": ".ai",
    "AIStep": ".ai",
    "Agent": ".agent",
    "McpTools": ".mcp_tools",
    "ApiTools": ".web.api_call",
    "WorkspaceFiles": ".files.workspace_files",
    "StructuredOutput": ".structured",
    "Classify": ".classify",
    "Retrieve": ".knowledge",
    "AnswerFromKnowledge": ".knowledge",
    "Rerank": ".reranking",
    "IndexDocuments": ".knowledge_documents",
    "Embed": ".embedding",
    "Transcribe": ".transcription",
    "Note": ".note",
    "Group": ".group",
}
"""Type to module, in palette order."""


@cache
def component(type_: str) -> "type[Component]":
    """Return the class of a type. Raises `KeyError`."""
    loaded: type[Component] = getattr(import_module(MODULES[type_], __name__), type_)
    return loaded


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name == "BUILTINS":
        return tuple(map(component, MODULES))
    raise AttributeError(f"module {__name__} has no attribute {name}")
