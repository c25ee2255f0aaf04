"""Finds the steps of a flow that send data out of the installation, and whether they have changed."""

from headgate.features.catalog.own.overlay import Overlay
from headgate.graph.mentions import mentions, policy_mentions
from headgate.graph.model import Flow, Node
from headgate.graph.wiring import Wiring, wire

_READERS = frozenset({"FileInput", "FolderFiles", "FormInput", "ReadFile", "Transcribe", "WorkspaceFiles"})
"""Components that read files."""


def changed_steps(before: Flow, after: Flow, registry: Overlay) -> list[str]:
    """Return the ids of steps that determine outgoing data and differ from an earlier flow, in flow order.

    A step determines outgoing data when it sends any, has such a step as a tool, or precedes one. Positions are
    ignored. A changed input source changes a step, and a changed form changes every step.
    """
    earlier, now = wire(before, registry), wire(after, registry)
    deciding = _deciding(now, registry)
    if before.form != after.form:
        return [key for key in now.nodes if key in deciding]
    old, new = _contents(earlier), _contents(now)
    return [key for key in now.nodes if key in deciding and old.get(key) != new[key]]


def reads_outside(flow: Flow, registry: Overlay) -> bool:
    """Whether a run of a flow may read untrusted content: the web, a server, a file."""
    return any(node.type in _READERS or reaches_outside(node, registry) for node in flow.nodes)


def reaches_outside(node: Node, registry: Overlay) -> bool:
    """Whether a step itself sends data out of the installation. Unknown components count as such."""
    if node.policy.input_config is not None or node.policy.output_config is not None:
        return True
    own = registry.own.get(node.type)
    if own is not None:
        return own.template.outside or bool(own.manifest.hosts) or (node.code is not None and node.code != own.code)
    template = registry.template(node.type, node.params)
    return template is None or template.outside


def _deciding(wiring: Wiring, registry: Overlay) -> set[str]:
    outside = {key for key, node in wiring.nodes.items() if reaches_outside(node, registry)}
    deciding = outside | {
        edge_wire.edge.target for key in outside for edge_wire in wiring.leaving[key] if edge_wire.configures
    }
    sources, waiting = _sources(wiring), list(deciding)
    while waiting:
        fresh = sources[waiting.pop()] - deciding
        deciding |= fresh
        waiting += fresh
    return deciding


def _sources(wiring: Wiring) -> dict[str, set[str]]:
    """Map each node to the sources of its inputs, over edges and references."""
    sources = {key: {edge_wire.edge.source for edge_wire in wires} for key, wires in wiring.arriving.items()}
    aliases = wiring.aliases
    for key, node in wiring.nodes.items():
        named = (*mentions(node), *policy_mentions(node.policy))
        steps = (wiring.step_named(mention.reference.root, aliases) for mention in named)
        sources[key] |= {step for step in steps if step is not None and step != key}
    return sources


def _contents(wiring: Wiring) -> dict[str, tuple[object, ...]]:
    """Return each node's content and input sources."""
    sources = _sources(wiring)
    return {
        key: (
            node.model_dump(mode="json", exclude={"position"}),
            sorted(edge_wire.edge.id for edge_wire in wiring.arriving[key]),
            sources[key],
        )
        for key, node in wiring.nodes.items()
    }
