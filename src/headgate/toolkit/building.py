"""The tool that builds a complete flow from text."""

from pydantic import JsonValue

from headgate.graph.draw import draw
from headgate.graph.issues import IssueCode
from headgate.graph.model import Flow
from headgate.graph.spec import SpecError, read_spec
from headgate.toolkit import actions
from headgate.toolkit.model_values import coerce_flow
from headgate.toolkit.shown import refuse_redacted, with_secrets_of
from headgate.toolkit.tool import Result
from headgate.toolkit.workbench import Workbench

_REPLACES = (
    "The canvas held a flow already: this is shown to the user as a proposal to replace it. For changes to the flow "
    "that is there use add, remove, connect, disconnect, configure and rename instead."
)


async def build_flow(bench: Workbench, spec: str) -> Result:
    """Build a complete new flow from text; the user sees a proposal. Refused completely if it contains an error.

    Args:
        spec: The flow as text, see read_grammar.
    """
    try:
        flow = read_spec(spec, bench.registry, mend=lambda read: _with_secrets(bench, read))
    except SpecError as error:
        _count_orphans(bench, error)
        raise
    replaced = [node.id for node in bench.opened.nodes if flow.node(node.id) != node]
    bench.change(flow, actions.set_flow(flow, replaces=replaced))
    answer: Result = {
        "ok": True,
        "name": flow.name,
        "nodes": len(flow.nodes),
        "edges": len(flow.edges),
        "issues": _issues(bench),
        "graph": draw(flow, bench.registry),
    }
    return answer | ({"note": _REPLACES} if replaced else {})


def _with_secrets(bench: Workbench, read: Flow) -> Flow:
    """Restore secrets that the model did not see, and normalise models."""
    flow = with_secrets_of(bench.flow, read, bench.registry)
    refuse_redacted([{**node.params, "policy": node.policy.model_dump(mode="json")} for node in flow.nodes])
    return coerce_flow(flow, bench.registry)


def _issues(bench: Workbench) -> JsonValue:
    """Return the problems of the flow, from its last action."""
    validation = bench.actions[-1]["validation"]
    return validation["issues"] if isinstance(validation, dict) else []


def _count_orphans(bench: Workbench, error: SpecError) -> None:
    """Count unconnected nodes for the operator: they indicate a worse prompt or model."""
    loose = [issue.node for issue in error.issues if issue.code is IssueCode.ORPHAN]
    if loose:
        bench.watch.orphan_rejected(loose)
