"""Collects everything that a flow file names from the file itself, whether or not the flow can run. Pure.

A plan exists only when all components are known, so its hosts are no complete list of what a file contains: one node of
unknown code would hide the URLs, credentials and models of all the others.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.features.flows.readiness.hosts import host_of
from headgate.features.runs.preview.schemas import DryHost
from headgate.graph.classification import model_refs
from headgate.graph.interpolate import texts_in
from headgate.graph.model import Flow, Node
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, Template
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sandbox.reading.source import Unreadable, read_source

LONGEST_URL = 500
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>`\\|^]+")
_ADDRESS = re.compile(r"(^|_)(url|uri|host|endpoint|address|domain)$", re.IGNORECASE)
"""Names of params that hold an address, with or without a scheme."""
_HOST = re.compile(r"(localhost|[^\s/]+[.:][^\s/]+)(/\S*)?")
_NAME = re.compile(r"(?:[A-Za-z]{1,20} )?(?P<name>[A-Za-z_]\w{0,127})", re.ASCII)
_WORDS_FOR_SECRETS = re.compile(r"secret|token|password|credential|api_?key", re.IGNORECASE)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+", re.ASCII)
TemplateOf = Callable[[Node], Template | None]


@dataclass(slots=True)
class Inventory:
    """Everything named, each by the first node that names it; an empty id stands for the flow itself."""

    urls: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, DryHost] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=dict)
    """Names of MCP servers."""


def inventory_of(flow: Flow, template_of: TemplateOf) -> Inventory:
    """Collect what a flow names. Nodes of unknown components are read more broadly, and never skipped."""
    inventory = Inventory()
    for node in flow.nodes:
        content = node.model_dump(mode="json")
        _note_urls(inventory, node.id, content)
        _note_addresses(inventory, node)
        for name, value in _named(content):
            _note_value(inventory, node.id, name, value)
        _note_fields(inventory, node, template_of(node))
        if node.code is not None:
            _note_code(inventory, node.id, node.code)
    _note_urls(inventory, "", flow.model_dump(mode="json", exclude={"nodes"}))
    return inventory


def _note_urls(inventory: Inventory, node: str, content: Any) -> None:  # noqa: ANN401 - JSON
    """Collect every URL in a text or a member's name."""
    for text in (*texts_in(content), *(name for name, _ in _named(content))):
        for match in _URL.finditer(text):
            url = match[0].rstrip(".,;:)]")
            inventory.urls.setdefault(url[:LONGEST_URL], node)
            _note_host(inventory, node, host_of(url), "text")


def _note_host(inventory: Inventory, node: str, host: str, purpose: Any) -> None:  # noqa: ANN401 - a literal
    inventory.hosts.setdefault(host, DryHost(step_id=node, host=host, purpose=purpose))


def _note_addresses(inventory: Inventory, node: Node) -> None:
    """Collect addresses without a scheme, and the hosts of the node's HTTP calls."""
    for call in (node.policy.input_config, node.policy.output_config):
        if call is not None and call.url:
            _note_host(inventory, node.id, host_of(call.url), "text")
    for name, value in _named(dict(node.params)):
        if isinstance(value, str) and _ADDRESS.search(name) and _HOST.fullmatch(value.strip()):
            inventory.urls.setdefault(value.strip()[:LONGEST_URL], node.id)
            _note_host(inventory, node.id, host_of(value), "text")


def _note_value(inventory: Inventory, node: str, name: str, value: Any) -> None:  # noqa: ANN401 - JSON
    """Collect what a member indicates by its own structure, whichever component it belongs to."""
    if isinstance(value, dict):
        if isinstance(value.get("secret"), str):
            inventory.variables.setdefault(value["secret"], node)
        _note_model(inventory, node, value)
    elif name == "server" and isinstance(value, str) and value:
        inventory.servers.setdefault(value, node)
    if name == "headers" and isinstance(value, dict):
        for text in texts_in(value):
            match = _NAME.fullmatch(text)
            if match is not None and _CAPITALS.fullmatch(match["name"]):
                inventory.variables.setdefault(match["name"], node)


def _note_model(inventory: Inventory, node: str, value: Any) -> None:  # noqa: ANN401 - JSON
    for model in model_refs(value):
        if model is not None:
            inventory.models.setdefault(f"{model.provider}/{model.name}", node)


def _note_fields(inventory: Inventory, node: Node, template: Template | None) -> None:
    """Collect what a field of the component indicates by its type; for an unknown component, by its name."""
    for name, value in node.params.items():
        field = template.field(name) if template is not None else None
        secret = field.kind is FieldKind.SECRET if field is not None else bool(_WORDS_FOR_SECRETS.search(name))
        if secret and isinstance(value, str) and _NAME.fullmatch(value):
            inventory.variables.setdefault(value, node.id)
        if (field is not None and PortType.MODEL in field.types) or (field is None and "model" in name.lower()):
            for item in value if isinstance(value, list) else [value]:
                _note_model(inventory, node.id, item)


def _note_code(inventory: Inventory, node: str, code: str) -> None:
    """Collect hosts in code, and the secrets that it requests by name."""
    for host in derive_manifest(code).hosts:
        inventory.hosts[host] = DryHost(step_id=node, host=host, purpose="component")
    try:
        tree = read_source(code)
    except Unreadable:
        return
    for element in ast.walk(tree):
        match element:
            case ast.Call(func=ast.Attribute(attr="secret"), args=[ast.Constant(value=str(name)), *_]):
                inventory.variables.setdefault(name, node)
            case ast.Constant(value=str(text)) if _CAPITALS.fullmatch(text) and "_" in text:
                inventory.variables.setdefault(text, node)


def _named(content: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    """Yield every member with its name, and every unnamed list item, at any depth."""
    waiting = [content]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            yield from item.items()
            waiting.extend(item.values())
        elif isinstance(item, list):
            yield from (("", item) for item in item)
            waiting.extend(item)
