"""Answered calls of steps, as they go into a `RunStore` and come out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of a step, to be stored as soon as it is answered."""

    step_id: str
    attempt: int
    seq: int
    """Its number within the attempt, in the order of the answers."""
    kind: str
    """`model`, `tool` or `value`; `rejected` withdraws the last answer to the same request."""
    name: str
    """The model or the tool."""
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
    """Whether the record of an attempt counts its tokens; false when the worker died before it wrote one."""
