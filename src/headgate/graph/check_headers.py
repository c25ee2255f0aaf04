"""Checks of headers: credentials must be references, never literals.

A flow is text that is stored, copied, exported and shown. So the value of a header that carries a credential is a
secret reference (`{"secret": "CRM_TOKEN", "scheme": "Bearer"}`), or comes from `{{...}}`.
"""

import re
from collections.abc import Iterator, Mapping

from headgate.foundation.key_shapes import KEY_SHAPE, is_about_a_key
from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.wiring import Wiring

_CREDENTIAL = re.compile(
    r"(^|[-_])(authorization|auth|cookie|api-?key|key|token|secret|passw(or)?d|signature)$", re.IGNORECASE
)
_HARMLESS = frozenset({"idempotency-key", "x-idempotency-key", "surrogate-key", "sec-websocket-key"})
_KEY_SHAPE = re.compile(KEY_SHAPE)


def carries_credential(name: str) -> bool:
    """Return whether a header of this name is for a key, a token or a password."""
    harmless = name.lower() in _HARMLESS or is_about_a_key(name)
    return not harmless and _CREDENTIAL.search(name.strip()) is not None


def looks_like_key(text: str) -> bool:
    """Return whether a text contains something in the format of a key of a known service."""
    return _KEY_SHAPE.search(text) is not None


def header_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield literal credentials in the headers of steps, their tools and their policies."""
    for node in wiring.nodes.values():
        for member, headers in _headers(node):
            for name, value in headers.items():
                if isinstance(value, str) and _is_written_down(str(name), value.strip()):
                    yield _issue(node, member, str(name))


def _headers(node: Node) -> Iterator[tuple[str, Mapping[str, object]]]:
    header_values = node.params.get("headers")
    if isinstance(header_values, dict):
        yield "headers", header_values
    for member, call in (("input_config", node.policy.input_config), ("output_config", node.policy.output_config)):
        if call is not None:
            yield f"{member}.headers", call.headers


def _is_written_down(name: str, value: str) -> bool:
    if _KEY_SHAPE.search(value):
        return True
    return bool(value) and carries_credential(name) and "{{" not in value


def _issue(node: Node, member: str, name: str) -> Issue:
    return Issue(
        IssueCode.INVALID_VALUE,
        (
            f"the header '{name[:60]}' in '{member}' of {named(node)} contains a credential as text, which would "
            "be stored with the flow and shown to everyone with access to it."
        ),
        'Store it (`headgate variables set MY_TOKEN`) and refer to it: {"secret": "MY_TOKEN", "scheme": "Bearer"}.',
        node.id,
        member,
    )
