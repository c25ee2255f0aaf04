"""What keeps a flow of our own from being written (seed 004, DD-018).

Refused is what could be neither saved nor run: all that saving refuses (unknown components and fields, edges to ports
that are not there, values that no field holds, contracts that contradict themselves), code that the sandbox would
refuse, and keys written down instead of named. What is only missing is no fault: a flow is built in several steps, and
the answer of each says what it still lacks.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from headgate.agents.codev.domain import Fault
from headgate.features.flows.rules import code_issues
from headgate.graph.check_headers import looks_like_key
from headgate.graph.issues import Issue
from headgate.graph.model import Flow, Node
from headgate.graph.template import Catalog, FieldKind
from headgate.graph.validate import check_draft

MOST_FAULTS = 20
BY_NAME = "Name a variable instead; the person makes it, and only they see its value."
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)


def faults_of(flow: Flow, catalog: Catalog) -> list[Fault]:
    """What keeps a flow from being written, in the order in which to mend it."""
    found = [_of(issue) for issue in (*check_draft(flow, catalog), *code_issues(flow))]
    return [*found, *_secrets_written_down(flow, catalog)][:MOST_FAULTS]


def keys_in(flow: Flow) -> frozenset[tuple[str, str, str]]:
    """Node, field and text of every value that has the shape of a service's key."""
    return frozenset(
        (node.id, name, text)
        for node in flow.nodes
        for name, value in {**node.params, "policy": node.policy.model_dump(mode="json")}.items()
        for text in _texts(value)
        if looks_like_key(text)
    )


def new_keys(before: Flow, after: Flow) -> list[str]:
    """`node.field` of each key that a change would write down; one that stood there already is not the change's."""
    known = {text for _, _, text in keys_in(before)}
    return sorted({f"{node}.{name}" for node, name, text in keys_in(after) if text not in known})


def _secrets_written_down(flow: Flow, catalog: Catalog) -> Iterator[Fault]:
    for node in flow.nodes:
        for name in _secret_fields(node, catalog):
            value = node.params.get(name)
            if isinstance(value, str) and value and "{{" not in value and not _VARIABLE.fullmatch(value):
                yield Fault(f"{node.id}.{name}", "a secret is written down where the name of a variable goes.", BY_NAME)


def _secret_fields(node: Node, catalog: Catalog) -> Iterator[str]:
    template = catalog.template(node.type, node.params)
    for field in template.fields if template is not None else ():
        if field.kind is FieldKind.SECRET:
            yield field.name


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _of(issue: Issue) -> Fault:
    where = issue.edge or ".".join(part for part in (issue.node, issue.field) if part)
    return Fault(where, issue.message, issue.remedy)
