"""Builds the report on a file to import. Nothing of the file is stored or executed."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from headgate.features.access.principal import Principal
from headgate.features.catalog.own.store import with_packs
from headgate.features.catalog.registry import Registry
from headgate.features.flows.readiness.content import CODE_FIELDS
from headgate.features.flows.transfer import FORMAT_KEY, import_flow, triggers_in
from headgate.features.runs.ports.flows import Components
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
"""Most findings of the sandbox listed for one piece of code."""
_LONGEST_NAME, _LONGEST_URL = 120, 2_000
T = TypeVar("T")
_NODES = re.compile(r"^nodes[ \t]*:", re.MULTILINE)


class ImportReportIn(BaseModel):
    """A file to inspect."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(max_length=MOST_CHARACTERS)


class ImportedCode(BaseModel):
    """Code in the file. It was read, not run."""

    nodes: list[str]
    type: str
    lines: int
    source: str
    """The source, truncated when it is very long."""
    imports: list[str]
    hosts: list[str]
    files: bool
    """Whether it accesses files."""
    known: bool
    """Whether this tenant has had exactly this code checked."""
    findings: list[Finding]
    """Why the sandbox would reject it."""
    omitted: dict[str, int] = Field(default_factory=dict)
    """Items omitted from lists that are too long, by the name of the list."""


class ImportedUrl(BaseModel):
    """A URL that is written in the file."""

    node: str
    """The first node that has it; empty for one of the flow itself."""
    url: str
    """The URL, truncated when it is very long."""


class ImportedTrigger(BaseModel):
    """A trigger of the file, which an import switches off."""

    name: str
    kind: str
    url: str = ""
    """What it would read, truncated when it is very long."""


class ImportReport(BaseModel):
    """Contents of a file, and what a run of it would access.

    Lists that were not inspected are null, and omitted items are counted.
    """

    format: str
    """`headgate`, `spec`; or `langflow`, `flowise`, `n8n`, `dify`, which are recognised and cannot be imported yet."""
    supported: bool
    """Whether an import accepts it; problems that can be fixed afterwards are in `problems`."""
    inspected: bool = False
    """Whether the content was inspected. Otherwise the lists are null: nothing is known of the file's content."""
    refused: str = ""
    """Why it cannot be imported."""
    remedy: str = ""
    name: str = ""
    description: str = ""
    nodes: int | None = None
    edges: int | None = None
    form: int | None = None
    triggers: list[ImportedTrigger] | None = None
    components: dict[str, int] | None = None
    """Number of components by type."""
    unknown: list[str] | None = None
    """Types that this installation does not have."""
    code: list[ImportedCode] | None = None
    urls: list[ImportedUrl] | None = None
    """Every URL in a text, a setting or the code of the file."""
    hosts: list[DryHost] | None = None
    """Every host in the plan, the code and the URLs."""
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
    """Builds import reports with the services of one installation."""

    catalog: Registry
    dry_runs: DryRuns

    async def of(self, principal: Principal, content: str) -> ImportReport:
        """Return the report. A file that cannot be imported is reported, not raised."""
        try:
            foreign = _foreign(content)
            if foreign is not None:
                return foreign
            _refuse_prose(content)
            async with self.dry_runs.database.reading() as session:
                catalog = await with_packs(session, self.catalog)
            flow = await run_in_flow_thread(import_flow, content, catalog)
            triggers = [_trigger(given) for given in await run_in_flow_thread(triggers_in, content)]
            if len(flow.nodes) > MOST_NODES:
                raise Invalid(f"The flow has more than {MOST_NODES} nodes.", remedy="Split it.")
        except HeadgateError as error:
            return ImportReport(
                format="headgate" if _is_json(content) else "spec",
                supported=False,
                refused=error.detail,
                remedy=error.remedy,
            )
        report = await self._report(principal, flow, "headgate" if _is_json(content) else "spec")
        return report.model_copy(update={"triggers": triggers})

    async def _report(self, principal: Principal, flow: Flow, format_: str) -> ImportReport:
        components = await self.catalog.for_flow(principal.tenant_id, flow)
        kept_out = await run_in_flow_thread(check_kept, flow, components)
        fault = FlowInvalid(kept_out) if kept_out else None
        preview = await self.dry_runs.of(principal, flow, DryRunStart())
        code = await run_in_flow_thread(lambda: [_code_of(*item) for item in _codes(flow).items()])
        for imported in code:
            imported.known = components.code(imported.type) == _complete_code(flow, imported)
        inventory = await run_in_flow_thread(inventory_of, flow, partial(_template_of, components))
        types = Counter(node.type for node in flow.nodes)
        custom_types = {node.type for node in flow.nodes if node.code is not None}
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
            unknown=sorted(
                type_ for type_ in types if type_ not in custom_types and components.template(type_) is None
            ),
            code=lists.shown("code", code),
            urls=lists.shown("urls", [ImportedUrl(node=node, url=url) for url, node in inventory.urls.items()]),
            hosts=lists.shown("hosts", _all_hosts(preview.reach.hosts, inventory)),
            secrets=lists.shown("secrets", await self._secrets(principal, preview.reach.secrets, inventory)),
            models=lists.shown("models", _all_models(preview.path, inventory)),
            servers=lists.shown("servers", sorted(inventory.servers)),
            tools=lists.shown("tools", sorted({tool for step in preview.path for tool in step.tools})),
            problems=lists.shown(
                "problems", [finding for finding in preview.findings if finding.code != IssueCode.UNCHECKED_CODE]
            ),
            omitted=lists.omitted,
            definition=flow,
        )

    async def _secrets(self, principal: Principal, planned: list[DrySecret], inventory: Inventory) -> list[DrySecret]:
        """Return the variables of the plan and further ones that the file names."""
        keys = self.dry_runs.keys_of(principal.tenant_id, principal.space_id)
        planned_by_name = {secret.name: secret for secret in planned}
        available = await keys.available(inventory.variables)
        for name, node in inventory.variables.items():
            if name not in planned_by_name:
                planned_by_name[name] = DrySecret(step_id=node, name=name, known=name in available)
        return list(planned_by_name.values())


def _template_of(components: Components, node: Node) -> Template | None:
    """Return the template of a node; None for an unknown component, or one whose code was not checked here."""
    return components.template(node.type, node.params) if components.code(node.type) == node.code else None


class _Lists:
    """Truncates lists for display and counts the omitted items."""

    def __init__(self) -> None:
        self.omitted: dict[str, int] = {}

    def shown(self, name: str, items: list[T], limit: int = MOST_LISTED) -> list[T]:
        """The first items."""
        if len(items) > limit:
            self.omitted[name] = len(items) - limit
        return items[:limit]


def _foreign(content: str) -> ImportReport | None:
    """Return the report on a file of another product. Raises `Invalid` for excessive nesting."""
    if not _is_json(content):
        return _of_product(Product("dify", "Dify", 0), "") if is_dify(content) else None
    _refuse_deep(content)
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None  # the next parser reports where it is invalid
    if not isinstance(document, dict) or FORMAT_KEY in document:
        return None
    product = name_of_format(document)
    return None if product is None else _of_product(product, str(document.get("name", ""))[:200])


def _of_product(product: Product, name: str) -> ImportReport:
    return ImportReport(
        format=product.key,
        supported=False,
        refused=f"This is a file of {product.name}, which Headgate cannot import yet.",
        remedy="Nothing was executed. Describe what the flow does, and the assistant builds it.",
        name=name,
        nodes=product.nodes,
    )


def _refuse_prose(content: str) -> None:
    """Reject prose, such as a letter or a table, before it is reported as a malformed flow."""
    if not (_is_json(content) or _NODES.search(content)):
        raise Invalid(
            "The file is text, but not a flow.",
            remedy="Choose a file exported from Headgate, as JSON or text.",
        )


def _is_json(content: str) -> bool:
    return content.lstrip("\ufeff \t\r\n").startswith(("{", "["))


def _refuse_deep(content: str) -> None:
    """Reject excessive nesting: JSON parsers recurse, and no flow nests that deep."""
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
                raise Invalid(
                    f"The file is nested more than {MOST_DEPTH} levels deep.", remedy="The file is not a flow."
                )
        elif sign in "}]":
            depth -= 1


def _codes(flow: Flow) -> dict[tuple[str, str, str], list[str]]:
    """Return nodes by type, function and code: custom components, and nodes with code in a field."""
    nodes_by_code: dict[tuple[str, str, str], list[str]] = {}
    for node in flow.nodes:
        for function, code in _codes_of(node):
            nodes_by_code.setdefault((node.type, function, code), []).append(node.id)
    return nodes_by_code


def _codes_of(node: Node) -> list[tuple[str, str]]:
    codes = [] if node.code is None else [("", node.code)]
    if node.type in CODE_FIELDS:
        field, function = CODE_FIELDS[node.type]
        source = node.params.get(field)
        codes += [(function, source)] if isinstance(source, str) and source.strip() else []
    return codes


def _code_of(code_key: tuple[str, str, str], nodes: list[str]) -> ImportedCode:
    type_, function, code = code_key
    manifest = derive_manifest(code)
    refused = scan_code(code, function) if function else scan_component(code)
    lists = _Lists()
    return ImportedCode(
        nodes=lists.shown("nodes", nodes),
        type=type_,
        lines=code.count("\n") + 1,
        source=clipped_to(code, SHOWN_CODE),
        imports=list(manifest.imports),
        # A Python node has no network, whatever URLs it contains.
        hosts=[] if function else list(manifest.hosts),
        files=manifest.files,
        known=False,
        findings=[
            Finding(
                severity="error",
                code=finding.code,
                message=f"line {finding.line}: {finding.message}",
                remedy=finding.remedy,
                node=nodes[0],
            )
            for finding in lists.shown("findings", list(refused), MOST_FINDINGS)
        ],
        omitted=lists.omitted,
    )


def _complete_code(flow: Flow, code: ImportedCode) -> str | None:
    return next(node.code for node in flow.nodes if node.id == code.nodes[0])


def _all_hosts(planned: list[DryHost], inventory: Inventory) -> list[DryHost]:
    """Return the hosts of the plan with their purposes, and further ones that the file names."""
    unique = {(host.host, host.purpose): host for host in reversed(planned)}
    hosts = {host.host for host in planned}
    return [*reversed(unique.values()), *(host for host in inventory.hosts.values() if host.host not in hosts)]


def _all_models(path: list[DryStep], inventory: Inventory) -> list[str]:
    return sorted({model.model for step in path for model in step.models} | inventory.models.keys())


def _trigger(given: JsonValue) -> ImportedTrigger:
    """Return a trigger as the file has it, checked or not."""
    trigger = given if isinstance(given, dict) else {}
    config = trigger.get("config")
    settings = config if isinstance(config, dict) else {}
    return ImportedTrigger(
        name=clipped_to(str(trigger.get("name", "")), _LONGEST_NAME),
        kind=clipped_to(str(settings.get("kind", "")), _LONGEST_NAME),
        url=clipped_to(str(settings.get("url", "")), _LONGEST_URL),
    )
