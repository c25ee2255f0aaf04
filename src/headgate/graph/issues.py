"""Faults of a flow for users: one `Issue` per fault, collected in one error."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, cast

from pydantic import JsonValue

from headgate.foundation.errors import Invalid


class IssueCode(StrEnum):
    """Stable codes of the faults; programs must use these, never the messages."""

    EMPTY = "empty"
    SYNTAX = "syntax"
    RESERVED_ID = "reserved_id"
    DUPLICATE_NODE = "duplicate_node"
    DUPLICATE_EDGE = "duplicate_edge"
    UNKNOWN_TYPE = "unknown_type"
    UNCHECKED_CODE = "unchecked_code"
    UNKNOWN_NODE = "unknown_node"
    UNKNOWN_OUTPUT = "unknown_output"
    UNKNOWN_INPUT = "unknown_input"
    UNKNOWN_FIELD = "unknown_field"
    SELF_EDGE = "self_edge"
    CYCLE = "cycle"
    OCCUPIED_INPUT = "occupied_input"
    TYPE_MISMATCH = "type_mismatch"
    INVALID_VALUE = "invalid_value"
    TOO_MANY_ATTACHMENTS = "too_many_attachments"
    POLICY = "policy"
    CONTRACT = "contract"
    BINDING = "binding"
    MISSING_VALUE = "missing_value"
    ORPHAN = "orphan"
    CONFIGURATION_INPUT = "configuration_input"
    UNRESOLVED_REFERENCE = "unresolved_reference"
    INCOMPATIBLE = "incompatible"
    CLASSIFICATION = "classification"
    MISSING_FORM = "missing_form"
    CANNOT_MOVE = "cannot_move"
    HIDDEN_VALUE = "hidden_value"
    ADDRESS = "address"
    EXPRESSION = "expression"
    MCP_SERVER = "mcp_server"
    CONNECTION = "connection"
    VARIABLE_NOT_FOUND = "variable_not_found"
    VARIABLE_KEPT = "variable_kept"
    MODEL_NOT_USABLE = "model_not_usable"
    MODEL_UNKNOWN = "model_unknown"
    MODEL_CANNOT = "model_cannot"
    TEXT_FILES_ONLY = "text_files_only"
    EXTRA_NOT_INSTALLED = "extra_not_installed"
    ERROR_CODE = "error_code"


Severity = Literal["error", "warning"]
"""An error prevents a flow from running. A warning does not: the flow runs, possibly not as intended."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One fault of a flow. `message` names the affected part, `remedy` the solution."""

    code: IssueCode
    message: str
    remedy: str = ""
    node: str = ""
    """Id of the affected node; empty when it is about the complete flow."""
    field: str = ""
    """Field, port or policy member of that node."""
    edge: str = ""
    """The affected edge, as in the text spec: `a.text -> b.input`."""
    line: int = 0
    """Line of the text spec, from 1; 0 when the flow did not come from text."""
    severity: Severity = "error"
    about: str = ""
    """What must be set up outside the flow: the name of a variable, a model, an MCP server, an assistant."""

    def __str__(self) -> str:
        prefix = f"line {self.line}: " if self.line else ""
        return f"{prefix}{self.message}"

    def as_json(self) -> dict[str, JsonValue]:
        """Return the issue as a JSON object without its empty members. `severity` is there for warnings only."""
        members: dict[str, JsonValue] = {
            "code": self.code.value,
            "message": self.message,
            "remedy": self.remedy,
            "node": self.node,
            "field": self.field,
            "edge": self.edge,
            "line": self.line,
            "about": self.about,
            "severity": self.severity if self.severity == "warning" else "",
        }
        return {name: value for name, value in members.items() if value}


class FlowInvalid(Invalid):
    """A flow has faults; carries them all as `issues`, in the order in which to fix them."""

    code = "flow_invalid"
    title = "Invalid flow"

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues = tuple(issues)
        if not self.issues:
            raise ValueError("FlowInvalid needs at least one issue")
        first, remaining = self.issues[0], len(self.issues) - 1
        more = f" (and {remaining} more {'fault' if remaining == 1 else 'faults'})" if remaining else ""
        as_json = cast("list[JsonValue]", [issue.as_json() for issue in self.issues])
        super().__init__(f"{first}{more}", remedy=first.remedy, issues=as_json)

    def lines(self) -> list[str]:
        """Return one line per issue, with its remedy, for terminals and agents."""
        return [f"{issue} {issue.remedy}".strip() for issue in self.issues]


def raise_if_any(issues: Iterable[Issue]) -> None:
    """Raise `FlowInvalid` when there is an issue."""
    all_issues = tuple(issues)
    if all_issues:
        raise FlowInvalid(all_issues)
