"""The readiness check: one synchronous function without I/O."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.features.connections.described import described_outputs
from headgate.features.connections.known import connection_class_issues, connection_issues, named_connections
from headgate.features.flows.readiness.answer import Need, Readiness, gathered
from headgate.features.flows.readiness.content import (
    code_issues,
    document_issues,
    extra_issues,
    label_issues,
    value_issues,
)
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.readiness.hosts import calls_of, host_of, hosts_of_node
from headgate.features.flows.readiness.models import model_findings
from headgate.features.flows.readiness.variables import variable_findings
from headgate.features.mcptools.publishing import mcp_issues
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.settings import OutgoingSettings
from headgate.graph.check_graph import named
from headgate.graph.check_inputs import FILE_INPUT, fields_read
from headgate.graph.classification import classify
from headgate.graph.described import described_issues
from headgate.graph.interpolate import texts_in
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.links import NO_DEFAULTS, effective, empty_models, flow_link_issues, link, link_issues, linked_names
from headgate.graph.model import Flow, InputSource, InputType
from headgate.graph.template import Catalog
from headgate.graph.tool_names import FILE_TOOLS, mcp_nodes, mcp_server
from headgate.graph.validate import check_advice, check_runnable
from headgate.graph.widget import widget_issues
from headgate.graph.wiring import Wiring, wire

_FILE_INPUTS = frozenset({InputType.IMAGE, InputType.AUDIO, InputType.DOCUMENT, InputType.FILE})
_BINARY = re.compile(
    r"[\w-]+\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|png|jpe?g|gif|webp|mp3|wav|m4a|mp4|zip)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about the files of a flow."""

    issues: tuple[Issue, ...]
    needs: tuple[Need, ...]


def file_findings(wiring: Wiring) -> Findings:
    """Return the files that a run needs, and warnings about unsuitable use of file tools."""
    return Findings(tuple(_text_only_issues(wiring)), tuple(_file_needs(wiring)))


def _file_needs(wiring: Wiring) -> Iterator[Need]:
    for key in wiring.steps:
        node = wiring.nodes[key]
        if node.type == FILE_INPUT:
            names = fields_read(node) or [""]
        elif node.policy.input_source is InputSource.FLOW_INPUT and node.policy.input_type in _FILE_INPUTS:
            names = [""]
        else:
            continue
        for name in names:
            yield Need(kind="file", name=name, state="unknown", nodes=(key,))


def _text_only_issues(wiring: Wiring) -> Iterator[Issue]:
    """Return steps that mention a binary file and only have the workspace's tools, which handle text."""
    for key in wiring.steps:
        attached = [wiring.nodes[attachment.edge.source] for attachment in wiring.attachments(key)]
        if not any(node.type == FILE_TOOLS for node in attached):
            continue
        node = wiring.nodes[key]
        match = next((mention for text in texts_in(node.params) if (mention := _BINARY.search(text))), None)
        if match is not None:
            yield Issue(
                IssueCode.TEXT_FILES_ONLY,
                f"{named(node)} refers to '{match[0][:80]}', but the tools of WorkspaceFiles read and write text only.",
                "Read such a file with FileInput and ReadFile; create one with MakeDocument or SaveFile.",
                key,
                severity="warning",
            )


_INTERNAL_TOO = AddressPolicy.of(OutgoingSettings.model_construct(), OPERATOR_NETWORKS)
"""Without an installation, the allowed internal networks are unknown: only forbidden addresses are refused."""
_OF_EXECUTION = frozenset(
    {
        *(IssueCode.MISSING_VALUE, IssueCode.HIDDEN_VALUE, IssueCode.MISSING_FORM, IssueCode.TEXT_FILES_ONLY),
        *(IssueCode.MODEL_NOT_USABLE, IssueCode.MODEL_UNKNOWN, IssueCode.MODEL_CANNOT, IssueCode.MCP_SERVER),
        IssueCode.CONNECTION,
        *(
            IssueCode.VARIABLE_NOT_FOUND,
            IssueCode.VARIABLE_KEPT,
            IssueCode.ADDRESS,
            IssueCode.EXTRA_NOT_INSTALLED,
            IssueCode.EXPRESSION,
            IssueCode.ORPHAN,
            IssueCode.ERROR_CODE,
        ),
    }
)
"""Faults that only matter when a step is executed: a disabled one is not."""


def check(flow: Flow, catalog: Catalog, environment: Environment | None = None, *, frozen: bool = False) -> Readiness:
    """Return whether a flow can run.

    Args:
        flow: The flow, as a draft or a frozen version.
        catalog: The components of the flow.
        environment: The environment of its space. None without an installation: external requirements are then unknown.
        frozen: Whether the flow is a frozen version: it contains the values of shared assistants and of the default
            model, which are not needed themselves.
    """
    defaults = environment.defaults_of(flow, catalog) if environment is not None and not frozen else NO_DEFAULTS
    linked = effective(link(flow, catalog, defaults))
    wiring = wire(linked, catalog)
    models, variables = model_findings(wiring, environment), variable_findings(wiring, environment)
    files = file_findings(wiring)
    issues = [
        *(check_runnable(linked, catalog) if frozen else _language_issues(flow, linked, catalog, environment)),
        *code_issues(linked),
        *document_issues(linked),
        *extra_issues(wiring),
        *label_issues(linked),
        *widget_issues(linked),
        *value_issues(wiring, environment.addresses if environment is not None else _INTERNAL_TOO),
        *models.issues,
        *variables.issues,
        *(mcp_issues(linked, catalog, environment.servers) if environment is not None else ()),
        *(connection_issues(wiring, environment.connections) if environment is not None else ()),
        *_class_issues(linked, catalog, environment, wiring),
        *_handler_issues(flow, environment),
        *files.issues,
        *check_advice(linked, catalog),
        *_described_issues(wiring, environment, frozen=frozen),
    ]
    disabled = {node.id for node in flow.nodes if node.policy.disabled != "no"}
    issues = [issue for issue in issues if issue.node not in disabled or issue.code not in _OF_EXECUTION]
    needs = [*models.needs, *variables.needs, *files.needs, *_other_needs(wiring, environment)]
    if not frozen:
        needs.extend(_assistant_needs(flow, catalog, environment))
    if not frozen and environment is None:
        needs.extend(_default_needs(flow, catalog))
    return Readiness(
        errors=tuple(issue for issue in issues if issue.severity == "error"),
        warnings=tuple(issue for issue in issues if issue.severity == "warning"),
        needs=gathered([need for need in needs if not need.nodes or not disabled.issuperset(need.nodes)]),
    )


def _language_issues(flow: Flow, linked: Flow, catalog: Catalog, environment: Environment | None) -> Iterator[Issue]:
    """Return issues of the flow language. A value that an unknown assistant or default may provide is not missing."""
    if environment is not None:
        yield from link_issues(flow, catalog, environment.assistants)
        yield from flow_link_issues(flow, catalog, environment.defaults_of(flow, catalog).flows)
        yield from check_runnable(linked, catalog)
        return
    assistants, models = linked_names(flow, catalog), empty_models(flow, catalog)
    for issue in check_runnable(linked, catalog):
        unknown = issue.node in assistants or (issue.node, issue.field) in models
        if not unknown or issue.code is not IssueCode.MISSING_VALUE:
            yield issue


def _class_issues(flow: Flow, catalog: Catalog, environment: Environment | None, wiring: Wiring) -> Iterator[Issue]:
    if environment is None or environment.classification is None:
        return
    classified = classify(flow, catalog, environment.classification.scheme, environment.classification.classes.of)
    yield from classified.issues
    incoming = {step: step_class.incoming for step, step_class in classified.steps.items()}
    yield from connection_class_issues(wiring, environment.connections, incoming, classified.scheme)


def _described_issues(wiring: Wiring, environment: Environment | None, *, frozen: bool) -> Iterator[Issue]:
    """Return where the described outputs of steps differ from what uses them: advice, not needed at a start."""
    connections = environment.connections if environment is not None else {}
    return iter(()) if frozen else described_issues(wiring, described_outputs(wiring, connections))


def _handler_issues(flow: Flow, environment: Environment | None) -> Iterator[Issue]:
    """Return a handler of failures that would not be started. It is resolved when a run fails, also for a version."""
    name = flow.settings.error_flow
    if name and environment is not None and not environment.flows.named([(name, None)]):
        yield Issue(
            IssueCode.UNRESOLVED_REFERENCE,
            f"the flow '{name}', which handles failures, does not exist or is not published: it is not started.",
            "Publish it, restore it from the trash, or choose another in the settings of this flow.",
            field="error_flow",
            severity="warning",
        )


def _assistant_needs(flow: Flow, catalog: Catalog, environment: Environment | None) -> Iterator[Need]:
    for node_id, name in linked_names(flow, catalog).items():
        state = "unknown" if environment is None else "ready" if name in environment.assistants else "missing"
        yield Need(kind="assistant", name=name, state=state, nodes=(node_id,))


def _default_needs(flow: Flow, catalog: Catalog) -> Iterator[Need]:
    """Return the need of the default model for steps, when there is no installation."""
    assistants = linked_names(flow, catalog)
    for node_id, _field in empty_models(flow, catalog):
        if node_id not in assistants:
            yield Need(kind="model", name="", state="unknown", nodes=(node_id,))


def _other_needs(wiring: Wiring, environment: Environment | None) -> Iterator[Need]:
    """Return needs of MCP servers and hosts."""
    for node in mcp_nodes(wiring.flow.nodes):
        server = mcp_server(node)
        if server:
            known_server = environment.servers.get(server) if environment is not None else None
            usable = "ready" if known_server is not None and known_server.enabled else "missing"
            yield Need(kind="mcp_server", name=server, state=usable if environment else "unknown", nodes=(node.id,))
    for node, _field, reference in named_connections(wiring):
        usable = "ready" if environment is not None and reference.name in environment.connections else "missing"
        state = usable if environment is not None else "unknown"
        yield Need(kind="connection", name=reference.name, state=state, nodes=(node.id,))
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        hosts = [host_of(call.url) for call in calls_of(node).values()]
        for host in (*hosts, *(hosts_of_node(node, template) if template is not None else ())):
            yield Need(kind="host", name=host, state="unknown", nodes=(key,))
