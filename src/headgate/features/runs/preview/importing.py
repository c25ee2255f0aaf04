"""Reads a file that somebody would import into a report. Nothing of it is stored or executed."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.principal import Principal
from headgate.features.catalog.registry import Registry
from headgate.features.flows.readiness.content import CODE_FIELDS
from headgate.features.flows.transfer import FORMAT_KEY, import_flow
from headgate.features.runs.ports import Components
from headgate.features.runs.preview.foreign import Product, is_dify, name_of_format
from headgate.features.runs.preview.inventory import Inventory, inventory_of
from headgate.features.runs.preview.schemas import DryHost, DryRunStart, DrySecret, DryStep, Finding
from headgate.features.runs.preview.service import DryRuns
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.quoting import clipped_to
from headgate.graph.issues import FlowInvalid, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.template import Template
from headgate.graph.validate import check_kept
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sandbox.reading.scan import scan_code, scan_component

MOST_CHARACTERS = 4_000_000
MOST_DEPTH = 60
MOST_NODES = 5_000
SHOWN_CODE = 20_000
MOST_LISTED = 200
MOST_FINDINGS = 20
"""Reasons of the sandbox that are listed for one piece of code."""
T = TypeVar("T")
_NODES = re.compile(r"^nodes[ \t]*:", re.MULTILINE)


class ImportReportIn(BaseModel):
    """A file to look into."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(max_length=MOST_CHARACTERS)


class ImportedCode(BaseModel):
    """Code that the file carries. It was read, not run."""

    nodes: list[str]
    type: str
    lines: int
    source: str
    """Its beginning, where it is very long."""
    imports: list[str]
    hosts: list[str]
    files: bool
    """Whether it works with files."""
    known: bool
    """Whether this organisation has had exactly this code checked."""
    findings: list[Finding]
    """Why the sandbox would refuse it."""
    omitted: dict[str, int] = Field(default_factory=dict)
    """Items omitted from lists that are too long, by the name of the list."""


class ImportedUrl(BaseModel):
    """A URL that is written in the file."""

    node: str
    """The node that has it first; empty for one of the flow as a whole."""
    url: str
    """Its beginning, where it is very long."""


class ImportReport(BaseModel):
    """What a file holds, and what a run of it would reach.

    A list is never emptier than the file: what was not inspected is null, and what a list omits is counted.
    """

    format: str
    """`headgate`, `spec`; or `langflow`, `flowise`, `n8n`, `dify`, which are recognised and cannot be imported yet."""
    supported: bool
    """Whether an import takes it; what may be fixed afterwards is in `problems`."""
    inspected: bool = False
    """Whether the content was inspected. Otherwise the lists are null: nothing is known of what the file holds."""
    refused: str = ""
    """Why it cannot be imported, in words."""
    remedy: str = ""
    name: str = ""
    description: str = ""
    nodes: int | None = None
    edges: int | None = None
    form: int | None = None
    components: dict[str, int] | None = None
    """How often each type of component is in it."""
    unknown: list[str] | None = None
    """Types that this installation does not have."""
    code: list[ImportedCode] | None = None
    urls: list[ImportedUrl] | None = None
    """Every URL in a text, a setting or the code of the file."""
    hosts: list[DryHost] | None = None
    """Every server of the plan, the code and the URLs."""
    secrets: list[DrySecret] | None = None
    """Every variable that the file names."""
    models: list[str] | None = None
    servers: list[str] | None = None
    """Names of MCP servers."""
    tools: list[str] | None = None
    problems: list[Finding] | None = None
    omitted: dict[str, int] = Field(default_factory=dict)
    """Items omitted from lists that are too long, by the name of the list."""
    definition: Flow | None = None


@dataclass(frozen=True, slots=True)
class ImportReports:
    """Reports on files, on the parts of one installation."""

    catalog: Registry
    dry_runs: DryRuns

    async def of(self, principal: Principal, content: str) -> ImportReport:
        """The report. What cannot be imported is told in it and is no error."""
        try:
            foreign = _foreign(content)
            if foreign is not None:
                return foreign
            _refuse_prose(content)
            flow = await run_in_flow_thread(import_flow, content, self.catalog)
            if len(flow.nodes) > MOST_NODES:
                raise Invalid(f"The flow has over {MOST_NODES} nodes.", remedy="Split it.")
        except HeadgateError as error:
            return ImportReport(
                format="headgate" if _is_json(content) else "spec",
                supported=False,
                refused=error.detail,
                remedy=error.remedy,
            )
        return await self._report(principal, flow, "headgate" if _is_json(content) else "spec")

    async def _report(self, principal: Principal, flow: Flow, format_: str) -> ImportReport:
        components = await self.catalog.for_flow(principal.tenant_id, flow)
        kept_out = await run_in_flow_thread(check_kept, flow, components)
        fault = FlowInvalid(kept_out) if kept_out else None
        found = await self.dry_runs.of(principal, flow, DryRunStart())
        code = await run_in_flow_thread(lambda: [_code_of(*one) for one in _codes(flow).items()])
        for one in code:
            one.known = components.code(one.type) == _whole(flow, one)
        inventory = await run_in_flow_thread(inventory_of, flow, partial(_template_of, components))
        types = Counter(node.type for node in flow.nodes)
        carried = {node.type for node in flow.nodes if node.code is not None}
        lists = _Lists()
        return ImportReport(
            format=format_,
            supported=fault is None,
            inspected=True,
            refused=fault.detail if fault else "",
            remedy=fault.remedy if fault else "",
            name=flow.name,
            description=flow.description,
            nodes=len(flow.nodes),
            edges=len(flow.edges),
            form=len(flow.form),
            components=dict(lists.shown("components", types.most_common())),
            unknown=sorted(type_ for type_ in types if type_ not in carried and components.template(type_) is None),
            code=lists.shown("code", code),
            urls=lists.shown("urls", [ImportedUrl(node=node, url=url) for url, node in inventory.urls.items()]),
            hosts=lists.shown("hosts", _all_hosts(found.reach.hosts, inventory)),
            secrets=lists.shown("secrets", await self._secrets(principal, found.reach.secrets, inventory)),
            models=lists.shown("models", _all_models(found.path, inventory)),
            servers=lists.shown("servers", sorted(inventory.servers)),
            tools=lists.shown("tools", sorted({tool for step in found.path for tool in step.tools})),
            problems=lists.shown("problems", [one for one in found.findings if one.code != IssueCode.UNCHECKED_CODE]),
            omitted=lists.omitted,
            definition=flow,
        )

    async def _secrets(self, principal: Principal, planned: list[DrySecret], inventory: Inventory) -> list[DrySecret]:
        """Variables of the plan, and those that the file names besides."""
        keys = self.dry_runs.keys_of(principal.tenant_id, principal.space_id)
        told = {one.name: one for one in planned}
        for name, node in inventory.variables.items():
            if name not in told:
                told[name] = DrySecret(step_id=node, name=name, known=await keys.is_set(name))
        return list(told.values())


def _template_of(components: Components, node: Node) -> Template | None:
    """The template of a node; None for a component that is not here, or whose code was not checked here."""
    return components.template(node.type, node.params) if components.code(node.type) == node.code else None


class _Lists:
    """Cuts lists to what is shown, and counts the rest."""

    def __init__(self) -> None:
        self.omitted: dict[str, int] = {}

    def shown(self, name: str, items: list[T], most: int = MOST_LISTED) -> list[T]:
        """The first items."""
        if len(items) > most:
            self.omitted[name] = len(items) - most
        return items[:most]


def _foreign(content: str) -> ImportReport | None:
    """The report of a file of another product. Raises `Invalid` for what nests deeper than any flow."""
    if not _is_json(content):
        return _of_product(Product("dify", "Dify", 0), "") if is_dify(content) else None
    _refuse_deep(content)
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None  # what reads it next says where it is wrong
    if not isinstance(found, dict) or FORMAT_KEY in found:
        return None
    product = name_of_format(found)
    return None if product is None else _of_product(product, str(found.get("name", ""))[:200])


def _of_product(product: Product, name: str) -> ImportReport:
    return ImportReport(
        format=product.key,
        supported=False,
        refused=f"This is a file of {product.name}, which Headgate cannot import yet.",
        remedy="Nothing of it was run. Say in a sentence what it does, and the assistant builds it here.",
        name=name,
        nodes=product.nodes,
    )


def _refuse_prose(content: str) -> None:
    """A letter, a table or a page has no faults of spelling in it: it is no flow."""
    if not (_is_json(content) or _NODES.search(content)):
        raise Invalid(
            "The file is text, but not a flow.",
            remedy="Choose one that was downloaded from Headgate, as JSON or as text.",
        )


def _is_json(content: str) -> bool:
    return content.lstrip("\ufeff \t\r\n").startswith(("{", "["))


def _refuse_deep(content: str) -> None:
    """Readers of JSON go down into what is nested; a file that is only brackets is no flow."""
    depth = 0
    quoted = escaped = False
    for sign in content:
        if quoted:
            quoted = escaped or sign != '"'
            escaped = not escaped and sign == "\\"
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            depth += 1
            if depth > MOST_DEPTH:
                raise Invalid(f"The file nests deeper than {MOST_DEPTH} levels.", remedy="It is no flow.")
        elif sign in "}]":
            depth -= 1


def _codes(flow: Flow) -> dict[tuple[str, str, str], list[str]]:
    """Nodes by type, function and code: of own components, and of nodes that hold code in a field."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for node in flow.nodes:
        for function, code in _codes_of(node):
            found.setdefault((node.type, function, code), []).append(node.id)
    return found


def _codes_of(node: Node) -> list[tuple[str, str]]:
    found = [] if node.code is None else [("", node.code)]
    if node.type in CODE_FIELDS:
        field, function = CODE_FIELDS[node.type]
        source = node.params.get(field)
        found += [(function, source)] if isinstance(source, str) and source.strip() else []
    return found


def _code_of(about: tuple[str, str, str], nodes: list[str]) -> ImportedCode:
    type_, function, code = about
    manifest = derive_manifest(code)
    refused = scan_code(code, function) if function else scan_component(code)
    lists = _Lists()
    return ImportedCode(
        nodes=lists.shown("nodes", nodes),
        type=type_,
        lines=code.count("\n") + 1,
        source=clipped_to(code, SHOWN_CODE),
        imports=list(manifest.imports),
        # A Python node has no network, whatever addresses it holds.
        hosts=[] if function else list(manifest.hosts),
        files=manifest.files,
        known=False,
        findings=[
            Finding(
                severity="error",
                code=one.code,
                message=f"line {one.line}: {one.message}",
                remedy=one.remedy,
                node=nodes[0],
            )
            for one in lists.shown("findings", list(refused), MOST_FINDINGS)
        ],
        omitted=lists.omitted,
    )


def _whole(flow: Flow, code: ImportedCode) -> str | None:
    return next(node.code for node in flow.nodes if node.id == code.nodes[0])


def _all_hosts(planned: list[DryHost], inventory: Inventory) -> list[DryHost]:
    """Hosts of the plan with their purposes, and those that the file names besides."""
    unique = {(one.host, one.purpose): one for one in reversed(planned)}
    hosts = {one.host for one in planned}
    return [*reversed(unique.values()), *(one for one in inventory.hosts.values() if one.host not in hosts)]


def _all_models(path: list[DryStep], inventory: Inventory) -> list[str]:
    return sorted({one.model for step in path for one in step.models} | inventory.models.keys())
