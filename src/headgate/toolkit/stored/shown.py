"""Flows as an answer shows them: short, and without what looks like a secret."""

from typing import Any

from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.foundation.log import REDACTED, redact_text
from headgate.graph.model import Flow
from headgate.graph.template import Catalog
from headgate.graph.wiring import wire

MOST_CHARACTERS = 6_000
"""Of one text in an answer."""
MOST_OUTLINE = 160


class RedactedValue(Invalid):
    """A value was sent back as it was shown: without the secret that is in it."""

    code = "redacted_value"
    title = "Redacted value"


def shown_flow(flow: Flow) -> Flow:
    """The flow with everything in its values left out that looks like a key, a token or a password.

    Names of variables stay: they are how a flow should name a secret.
    """
    nodes = tuple(node.model_copy(update={"params": _shown(node.params)}) for node in flow.nodes)
    return flow.model_copy(update={"nodes": nodes})


def shown_value(value: JsonValue) -> JsonValue:
    """A value of a node, the same way."""
    found: JsonValue = _shown(value)
    return found


def refuse_redacted(value: Any) -> None:  # noqa: ANN401 - JSON
    """Raise `RedactedValue` when a value holds the mark that stands for a secret: it would replace the secret."""
    if isinstance(value, str) and REDACTED in value:
        raise RedactedValue(
            f"A value holds '{REDACTED}', which stands for a secret that is not shown and would take its place.",
            remedy="Leave that field out to keep what is there, or name a variable.",
        )
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        refuse_redacted(one)


def cut_text(text: str, hint: str = "") -> str:
    """A text of at most `MOST_CHARACTERS`; where it was cut it says how to get the rest."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n... [{len(text) - MOST_CHARACTERS} more characters. {hint or 'Ask for less.'}]"


def outline(flow: Flow, catalog: Catalog) -> str:
    """A flow in one line, its steps in running order."""
    types = {node.id: node.type for node in flow.nodes}
    line = " -> ".join(f"{one}:{types[one]}" for one in wire(flow, catalog).order)
    return line if len(line) <= MOST_OUTLINE else line[: MOST_OUTLINE - 4] + " ..."


def _shown(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {key: _shown(one) for key, one in value.items()}
    return [_shown(one) for one in value] if isinstance(value, list) else value
