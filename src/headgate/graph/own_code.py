"""Own components in a flow: a node carries the source of its class, and the catalog knows what was checked of it."""

from collections.abc import Iterator

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog


def own_codes(flow: Flow) -> tuple[str, ...]:
    """The different sources that a flow's nodes carry, in the flow's order; most flows have none."""
    return tuple(dict.fromkeys(node.code for node in flow.nodes if node.code is not None))


def with_code(flow: Flow, catalog: Catalog) -> Flow:
    """The flow with the code of every node that names an own component without bringing it: text leaves it out.

    Another node's of that type goes before the catalog's.
    """
    brought = {node.type: node.code for node in reversed(flow.nodes) if node.code is not None}
    given = {node.id: brought.get(node.type, catalog.code(node.type)) for node in flow.nodes if node.code is None}
    if not any(given.values()):
        return flow
    nodes = (node.model_copy(update={"code": given[node.id]}) if node.id in given else node for node in flow.nodes)
    return flow.model_copy(update={"nodes": tuple(nodes)})


def own_code_issues(flow: Flow, catalog: Catalog) -> Iterator[Issue]:
    """What a save refuses: code on a built-in component, two codes of one name, a class of another name, no code."""
    codes: dict[str, str] = {}
    for node in flow.nodes:
        if node.code is None:
            if catalog.code(node.type) is not None:
                yield _issue(
                    node,
                    "has no code, and nothing else says what it does.",
                    f"Add it again from the catalog, or copy 'code' from another {node.type}.",
                )
            continue
        first = codes.setdefault(node.type, node.code)
        if catalog.template(node.type) is not None and catalog.code(node.type) is None:
            yield _issue(
                node,
                "has code of its own, but a component of that name came with the installation and has its own.",
                "Take the code out, or give its class another name. A Python node has its code in 'source'.",
            )
        elif first != node.code:
            other = next(one for one in flow.nodes if one.code == first and one.type == node.type)
            yield _issue(
                node,
                f"has other code than '{other.id}': in one flow, one type has one code.",
                "Give both the same code, or give the class of one of them another name.",
            )
        elif (named := _class_of(node.code, catalog)) not in {"", node.type}:
            yield _issue(node, f"has the code of a component called {named}.", f"Make '{named}' the node's type.")


def unchecked_issues(flow: Flow, catalog: Catalog) -> Iterator[Issue]:
    """What a run refuses besides: code that nobody has checked here, told once a type. None of it was executed."""
    told: set[str] = set()
    for node in flow.nodes:
        if not is_unchecked(node, catalog) or node.type in told:
            continue
        told.add(node.type)
        yield Issue(
            IssueCode.UNCHECKED_CODE,
            f"node '{node.id}' ({node.type}) has code that has not been checked here.",
            "Read it, then check it: `headgate flows check-code`, or POST /api/v1/flows/{id}/components/check.",
            node.id,
            "code",
        )


def is_unchecked(node: Node, catalog: Catalog) -> bool:
    """Whether a node's code is one that the catalog does not know; a built-in component's never is."""
    known = catalog.code(node.type)
    is_built_in = known is None and catalog.template(node.type) is not None
    return node.code is not None and not is_built_in and node.code != known


def _class_of(code: str, catalog: Catalog) -> str:
    """The type under which the catalog has this code; empty when it has it not."""
    return next((type_ for type_ in catalog.types() if catalog.code(type_) == code), "")


def _issue(node: Node, message: str, remedy: str) -> Issue:
    return Issue(IssueCode.INVALID_VALUE, f"node '{node.id}' ({node.type}) {message}", remedy, node.id, "code")
