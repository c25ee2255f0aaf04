"""Checks of a step's allow-list against its tools."""

from collections.abc import Iterator

from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.names import did_you_mean, listed
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


def unknown_tool(node: Node, name: str, offered: Offer) -> Issue:
    """Return the issue of a name that matches no tool of the step."""
    return Issue(
        IssueCode.POLICY,
        (
            f"the tool allow-list of {named(node)} contains '{name[:200]}', which is not a tool of this "
            f"step{did_you_mean(name, offered.names) or '.'}"
        ),
        f"Its tools: {listed([*offered.names, *(f'{server}.*' for server in offered.servers)])}. "
        "Tools of MCP servers are written server.tool.",
        node.id,
        "tool_allowlist",
    )
