"""Answered calls of steps: written to and read from a `RunStore`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A model or tool call of a step, stored as soon as it is answered."""

    step_id: str
    attempt: int
    seq: int
    """Number within the attempt, in the order of the answers."""
    kind: str
    """`model`, `tool` or `value`; `rejected` invalidates the last answer to the same request."""
    name: str
    """Display name of the model or tool."""
    digest: str
    """SHA-256 of the request."""
    answer: bytes
    """Encrypted JSON."""
    tokens_input: int | None
    tokens_output: int | None
    at: int


@dataclass(frozen=True, slots=True)
class StoredCall:
    """An answered call of an earlier attempt."""

    attempt: int
    seq: int
    kind: str
    name: str
    digest: str
    answer: bytes
    tokens_input: int | None
    tokens_output: int | None
    counted: bool
    """Whether an attempt has recorded its tokens; false when the worker died before that."""
