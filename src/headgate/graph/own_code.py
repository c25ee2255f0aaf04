"""Custom components in a flow: a node contains the source of its class, and the catalog knows the checked template."""

from collections.abc import Iterator

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog


def own_codes(flow: Flow) -> tuple[str, ...]:
    """Return the distinct sources of a flow's nodes, in the flow's order; most flows have none."""
    return tuple(dict.fromkeys(node.code for node in flow.nodes if node.code is not None))


def with_code(flow: Flow, catalog: Catalog) -> Flow:
    """Return the flow with the code of every node that names a custom component without code: spec text omits it.

    The code of another node with that type has precedence over the catalog's.
    """
    known_codes = {node.type: node.code for node in reversed(flow.nodes) if node.code is not None}
    given = {node.id: known_codes.get(node.type, catalog.code(node.type)) for node in flow.nodes if node.code is None}
    if not any(given.values()):
        return flow
    nodes = (node.model_copy(update={"code": given[node.id]}) if node.id in given else node for node in flow.nodes)
    return flow.model_copy(update={"nodes": tuple(nodes)})


def own_code_issues(flow: Flow, catalog: Catalog) -> Iterator[Issue]:
    """Yield errors for a save: code on a built-in component, duplicate names, a class with another name, no code."""
    codes: dict[str, str] = {}
    for node in flow.nodes:
        if node.code is None:
            if catalog.code(node.type) is not None:
                yield _issue(
                    node,
                    "has no code, and no installed component has that type.",
                    f"Add it again from the catalog, or copy 'code' from another {node.type}.",
                )
            continue
        first = codes.setdefault(node.type, node.code)
        if catalog.template(node.type) is not None and catalog.code(node.type) is None:
            yield _issue(
                node,
                "has custom code, but an installed component has the same name.",
                "Remove the code, or give its class another name. A Python node has its code in 'source'.",
            )
        elif first != node.code:
            other = next(earlier for earlier in flow.nodes if earlier.code == first and earlier.type == node.type)
            yield _issue(
                node,
                f"has different code than '{other.id}': in one flow, one type has one code.",
                "Give both the same code, or give the class of one of them another name.",
            )
        elif (class_name := _class_of(node.code, catalog)) not in {"", node.type}:
            yield _issue(
                node, f"contains the code of a component named {class_name}.", f"Set the node's type to '{class_name}'."
            )


def unchecked_issues(flow: Flow, catalog: Catalog) -> Iterator[Issue]:
    """Yield additional errors for a run: unchecked code, reported once per type. None of it was executed."""
    reported: set[str] = set()
    for node in flow.nodes:
        if not is_unchecked(node, catalog) or node.type in reported:
            continue
        reported.add(node.type)
        yield Issue(
            IssueCode.UNCHECKED_CODE,
            f"node '{node.id}' ({node.type}) has code that has not been checked on this installation.",
            "Review it, then check it: `headgate flows check-code`, or POST /api/v1/flows/{id}/components/check.",
            node.id,
            "code",
        )


def is_unchecked(node: Node, catalog: Catalog) -> bool:
    """Return whether the catalog does not know a node's code; built-in components are always known."""
    known_code = catalog.code(node.type)
    is_built_in = known_code is None and catalog.template(node.type) is not None
    return node.code is not None and not is_built_in and node.code != known_code


def _class_of(code: str, catalog: Catalog) -> str:
    """Return the type under which the catalog has this code; empty when it does not."""
    return next((type_ for type_ in catalog.types() if catalog.code(type_) == code), "")


def _issue(node: Node, message: str, remedy: str) -> Issue:
    return Issue(IssueCode.INVALID_VALUE, f"node '{node.id}' ({node.type}) {message}", remedy, node.id, "code")
