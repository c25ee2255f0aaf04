"""Checks of a step's allow-list and approvals against its tools."""

from collections.abc import Iterator

from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType
from headgate.graph.tool_names import Offer, offer
from headgate.graph.wiring import Wiring


def allowlist_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield names on the allow-list of a restricted step that match none of its tools.

    Tools of an MCP server whose names the flow does not contain pass; publishing checks the server's own list.
    """
    for step in wiring.steps:
        policy = wiring.nodes[step].policy
        if policy.tool_policy == "restricted" and policy.tool_allowlist:
            offered = offer(wiring, step)
            for name in policy.tool_allowlist:
                if not offered.may_hold(name):
                    yield unknown_tool(wiring.nodes[step], name, offered)


def approval_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield tool approvals of steps that are no agents, and names in them that match no tool of the step."""
    for step in wiring.steps:
        node, template = wiring.nodes[step], wiring.templates[step]
        approval = node.policy.tool_approval
        if approval is None or template is None:
            continue
        if not any(field.many and PortType.TOOL in field.types for field in template.fields):
            yield Issue(
                IssueCode.POLICY,
                f"{named(node)} has tools that need approval (tool_approval), but it is no agent.",
                "Set tool_approval on a step whose model calls tools, such as Agent or AIStep, or remove it.",
                node.id,
                "tool_approval",
            )
            continue
        if not approval.tools:
            yield Issue(
                IssueCode.POLICY,
                f"tool_approval of {named(node)} names no tool.",
                "Name the tools whose calls need approval, or remove tool_approval.",
                node.id,
                "tool_approval",
            )
        offered = offer(wiring, step)
        for name in approval.tools:
            server = name.removesuffix(".*")
            if name != "*" and not (name != server and _has_server(offered, server)) and not offered.may_hold(name):
                yield unknown_tool(node, name, offered, member="tool_approval")


def _has_server(offered: Offer, server: str) -> bool:
    return server in offered.servers or any(name.startswith(f"{server}.") for name in offered.names)


def unknown_tool(node: Node, name: str, offered: Offer, *, member: str = "tool_allowlist") -> Issue:
    """Return the issue of a name in a policy member that matches no tool of the step."""
    what = "allow-list" if member == "tool_allowlist" else "approval"
    return Issue(
        IssueCode.POLICY,
        (
            f"the tool {what} of {named(node)} contains '{name[:200]}', which is not a tool of this "
            f"step{did_you_mean(name, offered.names) or '.'}"
        ),
        f"Its tools: {listed([*offered.names, *(f'{server}.*' for server in offered.servers)])}. "
        "Tools of MCP servers are written server.tool.",
        node.id,
        member,
    )
