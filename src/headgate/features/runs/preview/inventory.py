"""Everything that the file of a flow names, read from the file itself, whether or not the flow could run. Pure.

A plan exists only where all components are known, so what a plan says would be reached is no list of what a file holds:
one node of unknown code would hide the addresses, credentials and models of all the others.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.features.flows.readiness.hosts import host_of
from headgate.features.runs.preview.schemas import DryHost
from headgate.graph.classification import model_ref
from headgate.graph.interpolate import texts_in
from headgate.graph.model import Flow, Node
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, Template
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sandbox.reading.source import Unreadable, read_source

LONGEST_URL = 500
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>`\\|^]+")
_ADDRESS = re.compile(r"(^|_)(url|uri|host|endpoint|address|domain)$", re.IGNORECASE)
"""Names of params that hold an address, with or without `https://` before it."""
_HOST = re.compile(r"(localhost|[^\s/]+[.:][^\s/]+)(/\S*)?")
_NAME = re.compile(r"(?:[A-Za-z]{1,20} )?(?P<name>[A-Za-z_]\w{0,127})", re.ASCII)
_WORDS_FOR_SECRETS = re.compile(r"secret|token|password|credential|api_?key", re.IGNORECASE)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+", re.ASCII)
TemplateOf = Callable[[Node], Template | None]


@dataclass(slots=True)
class Inventory:
    """What is named, each by the node that names it first; an empty id: by the flow as a whole."""

    urls: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, DryHost] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=dict)
    """Names of MCP servers."""


def inventory_of(flow: Flow, template_of: TemplateOf) -> Inventory:
    """What a flow names. A node whose component is unknown is read the more broadly, and never skipped."""
    found = Inventory()
    for node in flow.nodes:
        content = node.model_dump(mode="json")
        _note_urls(found, node.id, content)
        _note_addresses(found, node)
        for name, value in _named(content):
            _note_value(found, node.id, name, value)
        _note_fields(found, node, template_of(node))
        if node.code is not None:
            _note_code(found, node.id, node.code)
    _note_urls(found, "", flow.model_dump(mode="json", exclude={"nodes"}))
    return found


def _note_urls(found: Inventory, node: str, content: Any) -> None:  # noqa: ANN401 - JSON
    """Every URL in a text or a member's name."""
    for text in (*texts_in(content), *(name for name, _ in _named(content))):
        for match in _URL.finditer(text):
            url = match[0].rstrip(".,;:)]")
            found.urls.setdefault(url[:LONGEST_URL], node)
            _note_host(found, node, host_of(url), "text")


def _note_host(found: Inventory, node: str, host: str, purpose: Any) -> None:  # noqa: ANN401 - a literal
    found.hosts.setdefault(host, DryHost(step_id=node, host=host, purpose=purpose))


def _note_addresses(found: Inventory, node: Node) -> None:
    """Addresses without a scheme, and the hosts of the node's HTTP calls."""
    for call in (node.policy.input_config, node.policy.output_config):
        if call is not None and call.url:
            _note_host(found, node.id, host_of(call.url), "text")
    for name, value in _named(dict(node.params)):
        if isinstance(value, str) and _ADDRESS.search(name) and _HOST.fullmatch(value.strip()):
            found.urls.setdefault(value.strip()[:LONGEST_URL], node.id)
            _note_host(found, node.id, host_of(value), "text")


def _note_value(found: Inventory, node: str, name: str, value: Any) -> None:  # noqa: ANN401 - JSON
    """What a member says by its own shape, whichever component it belongs to."""
    if isinstance(value, dict):
        if isinstance(value.get("secret"), str):
            found.variables.setdefault(value["secret"], node)
        _note_model(found, node, value)
    elif name == "server" and isinstance(value, str) and value:
        found.servers.setdefault(value, node)
    if name == "headers" and isinstance(value, dict):
        for one in texts_in(value):
            named = _NAME.fullmatch(one)
            if named is not None and _CAPITALS.fullmatch(named["name"]):
                found.variables.setdefault(named["name"], node)


def _note_model(found: Inventory, node: str, value: Any) -> None:  # noqa: ANN401 - JSON
    model = model_ref(value)
    if model is not None:
        found.models.setdefault(f"{model.provider}/{model.name}", node)


def _note_fields(found: Inventory, node: Node, template: Template | None) -> None:
    """What a field of the component says by its type; of an unknown component what its name says."""
    for name, value in node.params.items():
        known = template.field(name) if template is not None else None
        secret = known.kind is FieldKind.SECRET if known is not None else bool(_WORDS_FOR_SECRETS.search(name))
        if secret and isinstance(value, str) and _NAME.fullmatch(value):
            found.variables.setdefault(value, node.id)
        if (known is not None and PortType.MODEL in known.types) or (known is None and "model" in name.lower()):
            for one in value if isinstance(value, list) else [value]:
                _note_model(found, node.id, one)


def _note_code(found: Inventory, node: str, code: str) -> None:
    """Hosts that code names, and the secrets that it asks for by name."""
    for host in derive_manifest(code).hosts:
        found.hosts[host] = DryHost(step_id=node, host=host, purpose="component")
    try:
        tree = read_source(code)
    except Unreadable:
        return
    for one in ast.walk(tree):
        match one:
            case ast.Call(func=ast.Attribute(attr="secret"), args=[ast.Constant(value=str(name)), *_]):
                found.variables.setdefault(name, node)
            case ast.Constant(value=str(text)) if _CAPITALS.fullmatch(text) and "_" in text:
                found.variables.setdefault(text, node)


def _named(content: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    """Every member with its name, and every item of a list without one, at any depth."""
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield from one.items()
            waiting.extend(one.values())
        elif isinstance(one, list):
            yield from (("", item) for item in one)
            waiting.extend(one)
