"""The tool that builds a whole flow from text."""

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
    """Build a whole new flow from text; the user sees a proposal. Refused as a whole when anything in it is wrong.

    Args:
        spec: The flow as text, see read_grammar.
    """
    try:
        flow = read_spec(spec, bench.registry, mend=lambda read: _mended(bench, read))
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


def _mended(bench: Workbench, read: Flow) -> Flow:
    """The flow with secrets back that the model was not shown, and models in the form that is kept."""
    flow = with_secrets_of(bench.flow, read, bench.registry)
    refuse_redacted([{**node.params, "policy": node.policy.model_dump(mode="json")} for node in flow.nodes])
    return coerce_flow(flow, bench.registry)


def _issues(bench: Workbench) -> JsonValue:
    """What keeps the flow from running, as the action that told of it says."""
    found = bench.actions[-1]["validation"]
    return found["issues"] if isinstance(found, dict) else []


def _count_orphans(bench: Workbench, error: SpecError) -> None:
    """Loose nodes tell of a prompt or a model that has got worse: the operator sees how often they come."""
    loose = [issue.node for issue in error.issues if issue.code is IssueCode.ORPHAN]
    if loose:
        bench.watch.orphan_rejected(loose)
