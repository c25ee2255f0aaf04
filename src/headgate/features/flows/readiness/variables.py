"""The variables that a flow refers to, the keys of its models excepted."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.features.flows.readiness.answer import Need, NeedState
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.readiness.hosts import calls_of
from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.secret_reference import SecretReference, references_of
from headgate.graph.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of the variables of a flow."""

    issues: tuple[Issue, ...]
    needs: tuple[Need, ...]


def variable_findings(wiring: Wiring, environment: Environment | None) -> Findings:
    """Whether every variable has a value."""
    issues: list[Issue] = []
    needs: list[Need] = []
    for node, field, name in _references(wiring):
        state: NeedState = "unknown"
        if environment is not None:
            state = "ready" if environment.variables.has(name) else "missing"
        needs.append(Need(kind="variable", name=name, state=state, nodes=(node.id,)))
        if state == "missing":
            issues.append(
                Issue(
                    IssueCode.VARIABLE_NOT_FOUND,
                    f"'{field}' of {named(node)} uses the variable {name}, which is not set.",
                    f"Set it in Settings, or with `headgate variables set {name}`.",
                    node.id,
                    field,
                    about=name,
                )
            )
    return Findings(tuple(issues), tuple(needs))


def _references(wiring: Wiring) -> Iterator[tuple[Node, str, str]]:
    """Node, field and name of each variable; each name once a node."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        found: dict[str, str] = {}
        for field in template.fields if template is not None else ():
            params = {field.name: node.params[field.name]} if field.name in node.params else {}
            for one in references_of(params, template) if template is not None else ():
                found.setdefault(one.name, field.name)
        for member, call in calls_of(node).items():
            for value in call.headers.values():
                if isinstance(value, SecretReference):
                    found.setdefault(value.name, f"{member}.headers")
        yield from ((node, field, name) for name, field in found.items())
