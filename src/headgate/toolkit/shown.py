"""The view of a flow for models and MCP clients, without secrets. Defines what counts as a secret.

Secrets are: values of secret fields, texts of headers, members named like a key or password, and texts that
look like a key or are the password of a URL. They are shown as `[redacted]`. A reference to a secret is not
secret. The page shows users their own flows completely, as `GET /flows/{id}` does.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.foundation.log import redact_text
from headgate.foundation.secret_values import REDACTED
from headgate.graph.check_headers import carries_credential
from headgate.graph.model import Flow, HttpCall, Node, StepPolicy
from headgate.graph.secret_reference import is_reference
from headgate.graph.template import Catalog

HEADERS = "headers"
"""Field of an unknown component whose values may contain a key."""
SHORTEST_MASKED = 6
"""Characters; shorter secrets would match unrelated words."""


class RedactedValue(Invalid):
    """A value contains the redaction mark instead of its secret."""

    code = "redacted_value"


def secret_fields(catalog: Catalog, type_: str, params: Mapping[str, JsonValue] | None = None) -> frozenset[str]:
    """Return the secret fields of a component; for an unknown component those named like a secret."""
    template = catalog.template(type_, params)
    if template is None:
        return frozenset(name for name in params or () if name == HEADERS or carries_credential(name))
    return frozenset(field.name for field in template.fields if field.is_secret or field.secret_values)


def shown_value(value: JsonValue, *, hidden: bool = False) -> JsonValue:
    """Return a value of a field with secrets redacted.

    Args:
        value: The value.
        hidden: Whether the field is one of `secret_fields`: then every text and number in it is omitted, except
            references to secrets.
    """
    if is_reference(value):
        return value
    if isinstance(value, dict):
        return {
            redact_text(name): shown_value(member, hidden=hidden or carries_credential(name))
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [shown_value(item, hidden=hidden) for item in value]
    if hidden:
        return REDACTED if value not in (None, "") and not isinstance(value, bool) else value
    return redact_text(value) if isinstance(value, str) else value


def shown_params(node: Node, catalog: Catalog) -> dict[str, JsonValue]:
    """Return the values of a node with secrets redacted."""
    hidden = secret_fields(catalog, node.type, node.params)
    return {name: shown_value(value, hidden=name in hidden) for name, value in node.params.items()}


def shown_flow(flow: Flow, catalog: Catalog) -> Flow:
    """Return the flow with secrets redacted."""
    nodes = tuple(
        node.model_copy(update={"params": shown_params(node, catalog), "policy": _shown_policy(node.policy)})
        for node in flow.nodes
    )
    return flow.model_copy(update={"nodes": nodes})


def with_secrets_of(known: Flow, written: Flow, catalog: Catalog) -> Flow:
    """Restore secrets in a flow written after `shown_flow(known)`, where it contains the redaction mark.

    Only in the original node: same id, same type, same field, and no other changed value, so that nobody can send
    another user's key to a different address by copying the mark to a new step.
    """
    before = {node.id: node for node in known.nodes}
    return written.model_copy(
        update={"nodes": tuple(_unhidden(before.get(node.id), node, catalog) for node in written.nodes)}
    )


def refuse_redacted(value: Any) -> None:  # noqa: ANN401 - JSON
    """Raise `RedactedValue` when a value contains the redaction mark: it would replace the secret."""
    if isinstance(value, str) and REDACTED in value:
        raise RedactedValue(
            f"A value contains '{REDACTED}', the placeholder of a hidden secret, and would overwrite it.",
            remedy='Omit that field to keep its value, or refer to a secret: {"secret": "MY_TOKEN"}.',
        )
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        refuse_redacted(member)


def secrets_of(catalog: Catalog, *flows: Flow) -> frozenset[str]:
    """Return the secret texts of flows; of headers only those that carry a credential."""
    return frozenset(
        text
        for flow in flows
        for node in flow.nodes
        for text in _secrets(node, catalog)
        if len(text) >= SHORTEST_MASKED
    )


def masked(value: Any, secrets: Iterable[str]) -> Any:  # noqa: ANN401 - JSON
    """Return a value with these secrets masked in its texts."""
    words = sorted(secrets, key=len, reverse=True)
    return _masked(value, words) if words else value


def _masked(value: Any, words: list[str]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        for word in words:
            value = value.replace(word, REDACTED)
        return value
    if isinstance(value, dict):
        return {_masked(name, words): _masked(member, words) for name, member in value.items()}
    return [_masked(item, words) for item in value] if isinstance(value, list | tuple) else value


def _secrets(node: Node, catalog: Catalog) -> Iterator[str]:
    hidden = secret_fields(catalog, node.type, node.params)
    for name, value in node.params.items():
        yield from _texts(value, hidden=name in hidden and not isinstance(value, dict))
    for call in (node.policy.input_config, node.policy.output_config):
        if call is not None:
            yield from _texts(
                {name: header for name, header in call.headers.items() if isinstance(header, str)}, hidden=False
            )


def _texts(value: JsonValue, *, hidden: bool) -> Iterator[str]:
    """Return the secret texts of a value; references to outputs are not secret."""
    if is_reference(value):
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, hidden=hidden or carries_credential(name))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, hidden=hidden)
    elif hidden and isinstance(value, str | int | float) and not isinstance(value, bool) and "{{" not in str(value):
        yield str(value)


def _shown_policy(policy: StepPolicy) -> StepPolicy:
    calls = {"input_config": policy.input_config, "output_config": policy.output_config}
    shown = {name: _shown_call(call) for name, call in calls.items() if call is not None}
    return policy.model_copy(update=shown) if shown else policy


def _shown_call(call: HttpCall) -> HttpCall:
    return call.model_copy(
        update={
            "url": redact_text(call.url),
            "headers": {name: REDACTED if isinstance(header, str) else header for name, header in call.headers.items()},
            "body": redact_text(call.body),
        }
    )


def _unhidden(before: Node | None, node: Node, catalog: Catalog) -> Node:
    if before is None or before.type != node.type:
        return node
    shown = before.model_copy(update={"params": shown_params(before, catalog), "policy": _shown_policy(before.policy)})
    same = (node.params, node.policy) == (shown.params, shown.policy) and node.code in (None, shown.code)
    return node.model_copy(update={"params": before.params, "policy": before.policy}) if same else node
