"""The servers that a node would reach, as far as its own values show. Pure."""

from urllib.parse import urlsplit

from headgate.graph.model import HttpCall, InputSource, Node
from headgate.graph.template import Template
from headgate.sandbox.reading.manifest import derive_manifest

_HTTP = frozenset({InputSource.HTTP_GET, InputSource.HTTP_POST})


def calls_of(node: Node) -> dict[str, HttpCall]:
    """Return the requests of a node's policy, by member."""
    policy = node.policy
    calls: dict[str, HttpCall] = {}
    if policy.input_source in _HTTP and policy.input_config is not None:
        calls["input_config"] = policy.input_config
    if policy.output_mode == "http_post" and policy.output_config is not None:
        calls["output_config"] = policy.output_config
    return calls


def hosts_of_node(node: Node, template: Template) -> tuple[str, ...]:
    """Return the hosts in the manifest of custom code; for a component that sends, the host of its URL."""
    if node.code is not None:
        return derive_manifest(node.code).hosts
    if not template.outside or template.field("url") is None:
        return ()
    url = node.params.get("url")
    return (host_of(url) if isinstance(url, str) else "",)


def host_of(url: str) -> str:
    """Return the host of a literal URL; empty when it depends on a value."""
    text = url.strip()
    try:
        host = urlsplit(text if "://" in text else f"https://{text}").netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return "" if "{{" in host or "}}" in host else host
