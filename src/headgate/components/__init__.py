"""The built-in components."""

from headgate.components.agent import Agent
from headgate.components.ai import AIStep, LanguageModel
from headgate.components.approval import Approval
from headgate.components.calculator import Calculator
from headgate.components.classify import Classify
from headgate.components.clock import CurrentDate, Wait
from headgate.components.code import Python
from headgate.components.data import MessageHistory, ParseJSON, SelectData
from headgate.components.documents import MakeDocument
from headgate.components.group import Group
from headgate.components.inputs import ChatInput, FileInput, FormInput, TextInput
from headgate.components.knowledge import AnswerFromKnowledge, Retrieve
from headgate.components.logic import If, Merge
from headgate.components.mapping import Map
from headgate.components.matching import Regex
from headgate.components.mcp_tools import McpTools
from headgate.components.note import Note
from headgate.components.outputs import ChatOutput
from headgate.components.packages import InstalledPackages
from headgate.components.read_file import ReadFile
from headgate.components.saving import SaveFile
from headgate.components.sent_events import SendEvent, WaitForEvent
from headgate.components.splitting import SplitText
from headgate.components.state import ReadState, WriteState
from headgate.components.structured import StructuredOutput
from headgate.components.subflows import ForEach, Loop, RunFlow
from headgate.components.switch import Switch
from headgate.components.table_query import TableQuery
from headgate.components.text import CombineText, PromptTemplate
from headgate.components.transcription import Transcribe
from headgate.components.web import URL, HTTPRequest
from headgate.components.webhook import WebhookOut
from headgate.components.workspace_files import WorkspaceFiles
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
    WebhookOut,
    PromptTemplate,
    CombineText,
    SplitText,
    Regex,
    ParseJSON,
    SelectData,
    TableQuery,
    ReadFile,
    Calculator,
    CurrentDate,
    MessageHistory,
    ReadState,
    WriteState,
    HTTPRequest,
    URL,
    If,
    Switch,
    Merge,
    Map,
    RunFlow,
    ForEach,
    Loop,
    Wait,
    WaitForEvent,
    SendEvent,
    Approval,
    Python,
    LanguageModel,
    AIStep,
    Agent,
    McpTools,
    WorkspaceFiles,
    StructuredOutput,
    Classify,
    Retrieve,
    AnswerFromKnowledge,
    Transcribe,
    Note,
    Group,
)
"""All built-in components, in palette order."""

__all__ = ["BUILTINS"]
