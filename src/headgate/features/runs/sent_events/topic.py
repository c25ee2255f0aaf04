"""What joins an event and the steps that wait for it: a space, a name and a correlation value."""

from dataclasses import dataclass

from headgate.features.runs.sent_events.errors import EventInvalid
from headgate.graph.names import clipped

LONGEST_NAME = 200
LONGEST_CORRELATION = 500


@dataclass(frozen=True, slots=True)
class Topic:
    """A name and a correlation value in a space. An event never leaves its space."""

    tenant_id: str
    space_id: str
    name: str
    correlation: str


def topic_of(tenant_id: str, space_id: str, name: str, correlation: str) -> Topic:
    """Return the topic, without white space around name and correlation. Raises `EventInvalid`."""
    name, correlation = name.strip(), correlation.strip()
    if not name:
        raise EventInvalid("The event has no name.", remedy="Name it, for example payment_received.")
    if len(name) > LONGEST_NAME or not _visible(name):
        raise EventInvalid(
            f"'{clipped(name)}' is not a valid name of an event.",
            remedy=f"Use one line of at most {LONGEST_NAME} characters.",
        )
    if len(correlation) > LONGEST_CORRELATION or not _visible(correlation):
        raise EventInvalid(
            f"'{clipped(correlation)}' is not a valid correlation value.",
            remedy=f"Use one line of at most {LONGEST_CORRELATION} characters, for example an order number.",
        )
    return Topic(tenant_id, space_id, name, correlation)


def _visible(text: str) -> bool:
    return all(character.isprintable() for character in text)
