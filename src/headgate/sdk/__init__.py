"""Write a component: `from headgate.sdk import Component, field, output, Text`."""

from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.secret_reference import SecretReference
from headgate.graph.tool_names import tool_name
from headgate.sdk.component import NOT_TAKEN, Component, ComponentError, NotTaken, output
from headgate.sdk.connections import HTTP_KINDS, SQL_KINDS, STORAGE_KINDS, Connection
from headgate.sdk.context import CodeRunner, Files, HttpAnswer, RunContext, RunInput, WorkspaceTools
from headgate.sdk.fields import field
from headgate.sdk.http import HttpClient
from headgate.sdk.values import Data, File, Message, Model, Recording, Table, Text, Tool, Transcript

__all__ = [
    "HTTP_KINDS",
    "NOT_TAKEN",
    "SQL_KINDS",
    "STORAGE_KINDS",
    "CodeRunner",
    "Component",
    "ComponentError",
    "Connection",
    "ConnectionReference",
    "Data",
    "File",
    "Files",
    "HttpAnswer",
    "HttpClient",
    "Message",
    "Model",
    "NotTaken",
    "Recording",
    "RunContext",
    "RunInput",
    "SecretReference",
    "Table",
    "Text",
    "Tool",
    "Transcript",
    "WorkspaceTools",
    "field",
    "output",
    "tool_name",
]
