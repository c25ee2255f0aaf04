"""The variables that a flow refers to, except the keys of its models."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.features.flows.readiness.answer import Need, NeedState
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.readiness.hosts import calls_of, host_of
from headgate.features.flows.readiness.immediate import at_once
from headgate.features.models.credentials import secret_for
from headgate.foundation.errors import HeadgateError
from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.names import sentence
from headgate.graph.secret_reference import SecretReference, references_of
from headgate.graph.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about the variables of a flow."""

    issues: tuple[Issue, ...]
    needs: tuple[Need, ...]


def variable_findings(wiring: Wiring, environment: Environment | None) -> Findings:
    """Check whether every variable has a value."""
    issues: list[Issue] = list(_destination_issues(wiring, environment)) if environment is not None else []
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


def _destination_issues(wiring: Wiring, environment: Environment) -> Iterator[Issue]:
    """Return secrets that a request would send to a server they are not stored for. No value is read."""
    for node, field, name, url in _sent(wiring):
        if not environment.variables.has(name) or not host_of(url):
            continue
        try:
            at_once(secret_for(name, url.strip().partition("{{")[0], environment.variables))
        except HeadgateError as error:
            message = sentence(f"'{field}' of {named(node)}: {error.detail}")
            yield Issue(IssueCode.VARIABLE_KEPT, message, error.remedy, node.id, field, about=name)


def _sent(wiring: Wiring) -> Iterator[tuple[Node, str, str, str]]:
    """Yield node, field, variable and URL of each secret in a header, when the server is a literal."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        url = node.params.get("url")
        connected = any(edge_wire.edge.input == "url" for edge_wire in wiring.arriving[key])
        for field in template.fields if template is not None else ():
            headers = node.params.get(field.name)
            if field.secret_values and isinstance(headers, dict) and isinstance(url, str) and not connected:
                for reference in references_of({field.name: headers}, template) if template is not None else ():
                    yield node, field.name, reference.name, url
        for member, call in calls_of(node).items():
            for value in call.headers.values():
                if isinstance(value, SecretReference):
                    yield node, f"{member}.headers", value.name, call.url


def _references(wiring: Wiring) -> Iterator[tuple[Node, str, str]]:
    """Yield node, field and name of each variable; each name once per node."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        names: dict[str, str] = {}
        for field in template.fields if template is not None else ():
            params = {field.name: node.params[field.name]} if field.name in node.params else {}
            for reference in references_of(params, template) if template is not None else ():
                names.setdefault(reference.name, field.name)
        for member, call in calls_of(node).items():
            for value in call.headers.values():
                if isinstance(value, SecretReference):
                    names.setdefault(value.name, f"{member}.headers")
        yield from ((node, field, name) for name, field in names.items())
