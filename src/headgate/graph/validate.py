"""Is this flow right? Three questions: may it be kept, does it hold together, and may it run."""

from collections.abc import Iterator

from headgate.graph.check_graph import attachment_issues, cycle_issues, edge_issues, node_issues
from headgate.graph.check_headers import header_issues
from headgate.graph.check_inputs import form_issues, hidden_values
from headgate.graph.check_params import param_issues
from headgate.graph.check_policies import contract_issues, policy_issues
from headgate.graph.check_run import run_issues
from headgate.graph.check_tools import allowlist_issues
from headgate.graph.issues import Issue, raise_if_any
from headgate.graph.model import Flow
from headgate.graph.own_code import unchecked_issues
from headgate.graph.template import Catalog
from headgate.graph.wiring import Wiring, wire


def check_kept(flow: Flow, catalog: Catalog) -> list[Issue]:
    """What a save refuses.

    Unknown types, fields and ports, values no field of that kind can hold, edges that do not fit or run in a circle,
    duplicates, contracts that are none, and credentials in the clear. Missing values and loose ends are allowed: it is
    a draft. So is a policy that somebody is still in the middle of: a web address to be typed, a reference to a step
    that was just removed. And code that has not been checked yet: what is around it is checked as far as that goes
    without its template.
    """
    return list(_kept(wire(flow, catalog), catalog))


def check_draft(flow: Flow, catalog: Catalog) -> list[Issue]:
    """What is refused of who writes a flow in one piece, an agent or a file: the same, and policies that make no sense.

    Nobody is in the middle of anything there.
    """
    wiring = wire(flow, catalog)
    return [*_kept(wiring, catalog), *policy_issues(wiring)]


def check_runnable(flow: Flow, catalog: Catalog) -> list[Issue]:
    """What a run or a publish refuses: the faults of a draft, and what is missing, loose, unresolvable or at odds."""
    wiring = wire(flow, catalog)
    return [
        *_kept(wiring, catalog),
        *policy_issues(wiring),
        *unchecked_issues(flow, catalog),
        *run_issues(wiring),
        *form_issues(wiring),
        *allowlist_issues(wiring),
    ]


def check_advice(flow: Flow, catalog: Catalog) -> list[Issue]:
    """Warnings: what does not keep a flow from running, and is most likely not meant."""
    return list(hidden_values(wire(flow, catalog)))


def require_draft(flow: Flow, catalog: Catalog) -> None:
    """Raise `FlowInvalid` when `check_draft` finds anything."""
    raise_if_any(check_draft(flow, catalog))


def require_runnable(flow: Flow, catalog: Catalog) -> None:
    """Raise `FlowInvalid` when `check_runnable` finds anything."""
    raise_if_any(check_runnable(flow, catalog))


def _kept(wiring: Wiring, catalog: Catalog) -> Iterator[Issue]:
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
