"""Validation of a flow: whether it can be saved, is a valid draft, and can run."""

from collections.abc import Iterator

from headgate.graph.check_graph import attachment_issues, cycle_issues, edge_issues, named, node_issues
from headgate.graph.check_headers import header_issues
from headgate.graph.check_inputs import form_issues, hidden_values
from headgate.graph.check_params import param_issues
from headgate.graph.check_policies import contract_issues, policy_issues
from headgate.graph.check_run import run_issues
from headgate.graph.check_tools import allowlist_issues, approval_issues
from headgate.graph.error_codes import retry_code_issues
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.own_code import unchecked_issues
from headgate.graph.template import Catalog
from headgate.graph.value_names import ANY_TYPE, STATE_STEPS
from headgate.graph.wiring import Wiring, wire


def check_kept(flow: Flow, catalog: Catalog) -> list[Issue]:
    """Return what a save rejects.

    Unknown types, fields and ports, values of the wrong type, incompatible or cyclic edges, duplicates, invalid
    contracts, and literal credentials. Missing values and unconnected nodes are allowed, since it is a draft. So are
    incomplete policies: a missing URL, a reference to a removed step. And unchecked code: the rest is checked as far as
    possible without its template.
    """
    return list(_structural_issues(wire(flow, catalog), catalog))


def check_draft(flow: Flow, catalog: Catalog) -> list[Issue]:
    """What is rejected for a flow written in one piece, by an agent or a file: like a save, and invalid policies.

    Nothing is in progress there.
    """
    wiring = wire(flow, catalog)
    return [*_structural_issues(wiring, catalog), *policy_issues(wiring)]


def check_runnable(flow: Flow, catalog: Catalog) -> list[Issue]:
    """Return what a run or a publication rejects: faults of a draft, and missing or conflicting parts."""
    wiring = wire(flow, catalog)
    return [
        *_structural_issues(wiring, catalog),
        *policy_issues(wiring),
        *unchecked_issues(flow, catalog),
        *run_issues(wiring),
        *form_issues(wiring),
        *allowlist_issues(wiring),
        *approval_issues(wiring),
    ]


def check_advice(flow: Flow, catalog: Catalog) -> list[Issue]:
    """Return warnings about likely mistakes that do not prevent a flow from running."""
    wiring = wire(flow, catalog)
    return [*hidden_values(wiring), *state_types(wiring), *retry_code_issues(flow)]


def _structural_issues(wiring: Wiring, catalog: Catalog) -> Iterator[Issue]:
    yield from node_issues(wiring, catalog)
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        if template is not None:
            yield from param_issues(node, template)
    yield from edge_issues(wiring)
    yield from cycle_issues(wiring)
    yield from attachment_issues(wiring)
    yield from contract_issues(wiring)
    yield from header_issues(wiring)


def state_types(wiring: Wiring) -> Iterator[Issue]:
    """Yield a warning for each step that declares another type for a value than an earlier step."""
    first: dict[str, Node] = {}
    for key, node in wiring.nodes.items():
        name, type_ = node.params.get("name"), node.params.get("value_type", ANY_TYPE)
        if node.type not in STATE_STEPS or not isinstance(name, str) or type_ == ANY_TYPE:
            continue
        earlier = first.setdefault(name, node)
        other = f"{named(earlier)} declares {earlier.params['value_type']}"
        if earlier.params["value_type"] != type_:
            yield Issue(
                IssueCode.STATE_TYPE,
                f"{named(node)} declares the type {type_} for the state '{name}', and {other}.",
                "Declare the same type, or use another name.",
                key,
                "value_type",
                severity="warning",
            )
