"""Short ways to write nodes, edges and flows in tests."""

from pydantic import JsonValue

from headgate.graph.model import Edge, Flow, Node, StepPolicy


def edge(text: str) -> Edge:
    """An edge from `a.text -> b.input`."""
    source, target = text.split(" -> ")
    (a, output), (b, input_) = source.split("."), target.split(".")
    return Edge(source=a, output=output, target=b, input=input_)


def node(node_id: str, type_: str, policy: StepPolicy | None = None, **params: JsonValue) -> Node:
    """A node with params."""
    return Node(id=node_id, type=type_, params=params, policy=policy or StepPolicy())


def flow(*nodes: Node, edges: str = "") -> Flow:
    """A flow; `edges` holds one edge a line."""
    return Flow(nodes=nodes, edges=tuple(edge(line.strip()) for line in edges.strip().splitlines() if line.strip()))


def chain(length: int) -> Flow:
    """A TextInput and CombineText steps one after the other: `n0 -> n1 -> ...`."""
    made = [node("n0", "TextInput"), *(node(f"n{number}", "CombineText") for number in range(1, length))]
    return flow(*made, edges="\n".join(f"n{number}.text -> n{number + 1}.parts" for number in range(length - 1)))
