"""Checks of a flow's values with the installation's libraries: code, documents, URLs, expressions."""

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from headgate.features.catalog.own.gate import MOST_CHARACTERS
from headgate.features.flows.readiness.hosts import calls_of
from headgate.foundation.errors import HeadgateError
from headgate.foundation.extras import ExtraNotInstalled
from headgate.foundation.extras import is_installed as is_extra_installed
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.lazy import lazy_module
from headgate.graph.check_graph import named
from headgate.graph.connection_reference import connections_of
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.names import sentence
from headgate.graph.template import FieldTemplate
from headgate.graph.wiring import Wiring
from headgate.sandbox.documents.errors import DocumentsNotInstalled
from headgate.sandbox.documents.maker import is_installed
from headgate.sandbox.reading.scan import Finding, scan_code, scan_component

if TYPE_CHECKING:
    from headgate.components import classify, syntax
else:
    classify = lazy_module("headgate.components.classify")
    syntax = lazy_module("headgate.components.syntax")

CODE_FIELDS = {"Python": ("source", "run")}
"""Components with code: its field, and the called function."""
_LOCAL = IPv4Address("127.0.0.1")
_scan_code = lru_cache(maxsize=256)(scan_code)
_scan_component = lru_cache(maxsize=256)(scan_component)


def document_issues(flow: Flow) -> Iterator[Issue]:
    """Return steps that make documents when the packages for it are not installed."""
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


def extra_issues(wiring: Wiring) -> Iterator[Issue]:
    """Return nodes whose component needs packages that are not installed."""
    for key, template in wiring.templates.items():
        if template is not None and template.extra and not is_extra_installed(template.extra):
            missing = ExtraNotInstalled(template.extra, named(wiring.nodes[key]))
            yield Issue(IssueCode.EXTRA_NOT_INSTALLED, sentence(missing.detail), missing.remedy, key)


def code_issues(flow: Flow) -> Iterator[Issue]:
    """Return what the sandbox would refuse in the code of a flow's nodes, without running any of it.

    More than `MOST_CHARACTERS` are not analysed: a run refuses them too.
    """
    size = sum(len(code) for code in _codes(flow))
    if size > MOST_CHARACTERS:
        message = f"the flow contains {size} characters of code; {MOST_CHARACTERS} are allowed."
        yield Issue(IssueCode.INVALID_VALUE, message, "Split it into two flows.")
        return
    for node in flow.nodes:
        field, function = CODE_FIELDS.get(node.type, ("", ""))
        code = node.params.get(field)
        if isinstance(code, str) and code:
            yield from (_code_issue(node, field, finding) for finding in _scan_code(code, function))
        if node.code is not None:
            yield from (_code_issue(node, "code", finding) for finding in _scan_component(node.code))


def label_issues(flow: Flow) -> Iterator[Issue]:
    """Return labels of Classify that a run would refuse: too few or many, without a name, not unique."""
    for node in flow.nodes:
        labels = node.params.get("labels") if node.type == "Classify" else None
        if labels is None or labels == "":
            continue  # reported as a missing value
        try:
            classify.read_labels(labels)
        except HeadgateError as fault:
            yield _issue(IssueCode.INVALID_VALUE, fault, node, "labels")


def value_issues(wiring: Wiring, addresses: AddressPolicy) -> Iterator[Issue]:
    """Return URLs that are never fetched, headers that are never sent, and expressions that do not parse."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        for field in template.fields if template is not None else ():
            value = node.params.get(field.name)
            if field.syntax and isinstance(value, str) and value.strip():
                yield from _text_issues(wiring, node, field, value, addresses)
            elif field.secret_values and isinstance(value, dict):
                yield from _header_issues(node, field.name, value)
        for member, call in calls_of(node).items():
            yield from _address_issues(node, f"{member}.url", call.url, addresses)
            yield from _header_issues(node, f"{member}.headers", call.headers)


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


def _text_issues(
    wiring: Wiring, node: Node, field: FieldTemplate, text: str, addresses: AddressPolicy
) -> Iterator[Issue]:
    if field.syntax == "url":
        if text.strip().startswith("/") and _has_connection(wiring, node):
            return  # the connection has the server
        yield from _address_issues(node, field.name, text, addresses)
    elif "{{" not in text or not field.interpolate:
        tables = sum(wire.edge.input == "table" for wire in wiring.data_into(node.id)) or 1
        fault = syntax.syntax_fault(field.syntax, text, subject=named(node), tables=tables)
        if fault is not None:
            yield _issue(IssueCode.EXPRESSION, fault, node, field.name)


def _address_issues(node: Node, field: str, url: str, addresses: AddressPolicy) -> Iterator[Issue]:
    """Check the literal part of a URL: for `http://{{host}}/` the scheme."""
    begin = url.strip().partition("{{")[0]
    if "{{" in url:
        scheme, separator, tail = begin.partition("://")
        if not separator:
            return
        url = f"{begin}example.org" if not tail else begin if "/" in tail else f"{scheme}://example.org"
    fault: HeadgateError | None = syntax.syntax_fault("url", url, subject=named(node))
    fault = fault or _literal_fault(url, addresses)
    if fault is not None:
        yield _issue(IssueCode.ADDRESS, fault, node, field)


def _has_connection(wiring: Wiring, node: Node) -> bool:
    template = wiring.templates[node.id]
    return template is not None and next(connections_of(node.params, template), None) is not None


def _literal_fault(url: str, addresses: AddressPolicy) -> HeadgateError | None:
    """Return why a literal IP address may not be reached. Names are only resolved when they are fetched."""
    try:
        target = parse_target(url if "://" in url else f"https://{url}")
    except HeadgateError as error:
        return error
    address = _LOCAL if target.host == "localhost" else target.address
    return None if address is None else addresses.refused(address, target.host)


def _header_issues(node: Node, field: str, headers: object) -> Iterator[Issue]:
    for name in headers if isinstance(headers, dict) else ():
        fault = syntax.header_fault(str(name), subject=named(node))
        if fault is not None:
            yield _issue(IssueCode.INVALID_VALUE, fault, node, field)


def _issue(code: IssueCode, fault: HeadgateError, node: Node, field: str) -> Issue:
    subject = named(node)
    detail = fault.detail if subject in fault.detail else f"'{field}' of {subject}: {fault.detail}"
    return Issue(code, sentence(detail), fault.remedy, node.id, field)
