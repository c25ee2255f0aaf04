"""The built-in components."""

from headgate.components.agent import Agent
from headgate.components.ai import AIStep, LanguageModel
from headgate.components.approval import Approval
from headgate.components.calculator import Calculator
from headgate.components.classify import Classify
from headgate.components.clock import CurrentDate, Wait
from headgate.components.code import Python
from headgate.components.data.calendars import CreateCalendar, ReadCalendar
from headgate.components.data.dates import DateMath
from headgate.components.data.json_data import MessageHistory, ParseJSON, SelectData
from headgate.components.data.table_query import TableQuery
from headgate.components.embedding import Embed
from headgate.components.files.archives import CreateArchive, ExtractArchive
from headgate.components.files.charts import Chart
from headgate.components.files.documents import MakeDocument
from headgate.components.files.folder_files import FolderFiles
from headgate.components.files.images import ConvertImage
from headgate.components.files.qr_codes import QRCode
from headgate.components.files.read_file import ReadFile
from headgate.components.files.saving import SaveFile
from headgate.components.files.spreadsheets import ReadSpreadsheet, WriteSpreadsheet
from headgate.components.files.workspace_files import WorkspaceFiles
from headgate.components.git.reading import GitFiles, GitHistory
from headgate.components.git.writing import CommitFiles, OpenChange
from headgate.components.group import Group
from headgate.components.inputs import ChatInput, FileInput, FormInput, TextInput
from headgate.components.iteration import ForEach
from headgate.components.knowledge import AnswerFromKnowledge, Retrieve
from headgate.components.knowledge_documents import IndexDocuments
from headgate.components.logic import If, Merge
from headgate.components.mail.notifying import Notify
from headgate.components.mail.reading import ReadMail
from headgate.components.mail.sending import SendMail
from headgate.components.mapping import Map
from headgate.components.matching import Regex
from headgate.components.mcp_call import McpCall
from headgate.components.mcp_tools import McpTools
from headgate.components.note import Note
from headgate.components.outputs import ChatOutput
from headgate.components.packages import InstalledPackages
from headgate.components.reranking import Rerank
from headgate.components.sent_events import SendEvent, WaitForEvent
from headgate.components.splitting import SplitText
from headgate.components.sql.components import SqlQuery, SqlSchema, SqlWrite
from headgate.components.state import ReadState, WaitForState, WriteState
from headgate.components.storage.components import MoveFile, WriteFile
from headgate.components.structured import StructuredOutput
from headgate.components.subflows import Loop, RunFlow
from headgate.components.switch import Switch
from headgate.components.text import CombineText, PromptTemplate
from headgate.components.transcription import Transcribe
from headgate.components.web.api_call import ApiCall, ApiTools
from headgate.components.web.extraction import ExtractHTML, ExtractXML
from headgate.components.web.feeds import ReadFeed, ReadSitemap
from headgate.components.web.pages import ForEachPage
from headgate.components.web.requests import URL, HTTPRequest
from headgate.components.web.webhook import WebhookOut
from headgate.sdk import Component

BUILTINS: tuple[type[Component], ...] = (
    ChatInput,
    TextInput,
    FormInput,
    FileInput,
    InstalledPackages,
    ChatOutput,
    SaveFile,
    MakeDocument,
    WriteSpreadsheet,
    Chart,
    QRCode,
    CreateArchive,
    CreateCalendar,
    WebhookOut,
    SendMail,
    Notify,
    PromptTemplate,
    CombineText,
    SplitText,
    Regex,
    ParseJSON,
    SelectData,
    TableQuery,
    ReadFile,
    SqlQuery,
    SqlWrite,
    SqlSchema,
    ReadMail,
    ReadSpreadsheet,
    ExtractArchive,
    FolderFiles,
    WriteFile,
    MoveFile,
    GitFiles,
    GitHistory,
    CommitFiles,
    OpenChange,
    ConvertImage,
    ExtractXML,
    Calculator,
    CurrentDate,
    DateMath,
    ReadCalendar,
    MessageHistory,
    ReadState,
    WriteState,
    HTTPRequest,
    ApiCall,
    McpCall,
    URL,
    ExtractHTML,
    ReadFeed,
    ReadSitemap,
    If,
    Switch,
    Merge,
    Map,
    RunFlow,
    ForEach,
    ForEachPage,
    Loop,
    Wait,
    WaitForEvent,
    WaitForState,
    SendEvent,
    Approval,
    Python,
    LanguageModel,
    AIStep,
    Agent,
    McpTools,
    ApiTools,
    WorkspaceFiles,
    StructuredOutput,
    Classify,
    Retrieve,
    AnswerFromKnowledge,
    Rerank,
    IndexDocuments,
    Embed,
    Transcribe,
    Note,
    Group,
)
"""All built-in components, in palette order."""

__all__ = ["BUILTINS"]
