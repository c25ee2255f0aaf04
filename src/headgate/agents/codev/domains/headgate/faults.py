"""What prevents a Headgate flow from being written (seed 004, DD-018).

Refused is what could be neither saved nor run: all that saving refuses (unknown components and fields, edges to ports
that are not there, values that no field holds, contracts that contradict themselves) and code that the sandbox would
refuse. What is only missing is no fault: a flow is built in several steps, and the answer of each says what it still
lacks. Nor are keys that people wrote down, or policies that they left half done: only those that a change would bring
are refused.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from headgate.agents.codev.domain import Fault
from headgate.features.flows.readiness.content import code_issues
from headgate.graph.check_headers import looks_like_key
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog
from headgate.graph.validate import check_draft

BY_NAME = 'Refer to a secret instead: {"secret": "MY_TOKEN"}; the user stores it.'
STANDING = "standing"
"""Problems that existed before a change, in its `about`."""
_HALF_DONE = frozenset({IssueCode.POLICY, IssueCode.BINDING})


def faults_of(flow: Flow, catalog: Catalog, standing: Sequence[str] = ()) -> list[Fault]:
    """Return what prevents a flow from being written, in order of repair, except for existing problems."""
    left, faults = Counter(standing), list[Fault]()
    for issue in (*check_draft(flow, catalog), *code_issues(flow)):
        if left[issue.field] and issue.code in _HALF_DONE:
            left[issue.field] -= 1
        else:
            faults.append(_of(issue))
    return faults


def half_done(flow: Flow, catalog: Catalog) -> list[str]:
    """Return policy problems that a draft may have and a run may not; without node ids, which may change."""
    return [issue.field for issue in check_draft(flow, catalog) if issue.code in _HALF_DONE]


def keys_in(flow: Flow, catalog: Catalog) -> frozenset[tuple[str, str, str]]:
    """Node, field and text of every value that has the shape of a key, or is text where only a reference may be."""
    return frozenset(
        (node.id, name, text)
        for node in flow.nodes
        for name, value in {**node.params, "policy": node.policy.model_dump(mode="json")}.items()
        for text in _texts(value)
        if looks_like_key(text) or (text and isinstance(value, str) and name in _secret_fields(node, catalog))
    )


def new_keys(before: Flow, after: Flow, catalog: Catalog) -> list[str]:
    """Return `node.field` of each new plaintext key in a change."""
    known = {text for _, _, text in keys_in(before, catalog)}
    return sorted({f"{node}.{name}" for node, name, text in keys_in(after, catalog) if text not in known})


def _secret_fields(node: Node, catalog: Catalog) -> frozenset[str]:
    template = catalog.template(node.type, node.params)
    fields = template.fields if template is not None else ()
    return frozenset(field.name for field in fields if field.is_secret)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _of(issue: Issue) -> Fault:
    where = issue.edge or ".".join(part for part in (issue.node, issue.field) if part)
    return Fault(where, issue.message, issue.remedy)
