"""What an installation demands of a flow before it is published: the language's rules, own code, security classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.catalog.own.gate import MOST_CHARACTERS
from headgate.features.catalog.registry import Components
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.models.classes import ModelClasses
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.validate import check_runnable
from headgate.graph.widget import widget_issues
from headgate.sandbox.documents.errors import DocumentsNotInstalled
from headgate.sandbox.documents.maker import is_installed
from headgate.sandbox.reading.scan import Finding, scan_code, scan_component

CODE_FIELDS = {"Python": ("source", "run")}
"""Components that hold code: the field it is in, and the function that is called."""


class PublishGate(Protocol):
    """Something else that has to hold before a flow is published."""

    async def require(self, session: AsyncSession, flow: FlowRow, version: FlowVersionRow) -> None:
        """Raise `HeadgateError` unless this version of the flow, which is locked, may be published."""
        ...


@dataclass(frozen=True, slots=True)
class FlowRules:
    """The checks of a flow, on the parts of one installation."""

    catalog: Components
    classes: ModelClasses
    gates: Sequence[PublishGate] = ()

    async def issues(self, tenant_id: str, flow: Flow) -> list[Issue]:
        """Everything that keeps a flow from being published."""
        known = await self.catalog.for_flow(tenant_id, flow)
        return [*check_runnable(flow, known), *await self.more_issues(tenant_id, flow)]

    async def more_issues(self, tenant_id: str, flow: Flow) -> list[Issue]:
        """The same, beyond the language's own rules."""
        code = await run_in_flow_thread(lambda: list(code_issues(flow)))  # reading much of it takes a while
        return [*code, *document_issues(flow), *widget_issues(flow), *await self.classes.issues(tenant_id, flow)]


def document_issues(flow: Flow) -> Iterator[Issue]:
    """Steps that make documents where the packages for it are not installed."""
    makers = [node for node in flow.nodes if node.policy.makes_document]
    if makers and not is_installed():
        missing = DocumentsNotInstalled()
        for node in makers:
            yield Issue(
                IssueCode.POLICY,
                f"node '{node.id}' ({node.type}) has output_type {node.policy.output_type}. {missing.detail}",
                missing.remedy,
                node.id,
                "output_type",
            )


def code_issues(flow: Flow) -> Iterator[Issue]:
    """What the sandbox would refuse in the code of a flow's nodes, without running any of it.

    Of more than `MOST_CHARACTERS` nothing is read: a run refuses it too.
    """
    size = sum(len(code) for code in _codes(flow))
    if size > MOST_CHARACTERS:
        message = f"the flow carries {size} characters of code; {MOST_CHARACTERS} are allowed."
        yield Issue(IssueCode.INVALID_VALUE, message, "Make two flows of it.")
        return
    for node in flow.nodes:
        field, function = CODE_FIELDS.get(node.type, ("", ""))
        code = node.params.get(field)
        if isinstance(code, str) and code:
            yield from (_code_issue(node, field, finding) for finding in scan_code(code, function))
        if node.code is not None:
            yield from (_code_issue(node, "code", finding) for finding in scan_component(node.code))


def _codes(flow: Flow) -> Iterator[str]:
    for node in flow.nodes:
        field, _ = CODE_FIELDS.get(node.type, ("", ""))
        yield from (code for code in (node.code, node.params.get(field)) if isinstance(code, str))


def _code_issue(node: Node, field: str, finding: Finding) -> Issue:
    return Issue(
        IssueCode.INVALID_VALUE,
        f"line {finding.line} of '{field}' of node '{node.id}' ({node.type}): {finding.message}.",
        finding.remedy,
        node.id,
        field,
    )
