"""What a clause asks for: operations with their slots, and the things it speaks of."""

from dataclasses import dataclass, field
from typing import Any

from headgate.agents.assistant.offline.grammar.condition import Condition


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing to do; `start` and `end` are the tokens that say it."""

    name: str
    slots: dict[str, Any] = field(default_factory=dict)
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun phrase that may refer to an earlier result: `the count table`, `them`.

    `kind` is one, many, both, others or named.
    """

    kind: str
    words: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause as read: operations in the order they are done, and mentions of earlier results."""

    operations: tuple[Operation, ...]
    mentions: tuple[Mention, ...]
    start: int
    end: int
    link: str = "next"
    question: bool = False

    def has(self, *names: str) -> bool:
        """Whether it asks for any of these operations."""
        return any(operation.name in names for operation in self.operations)


@dataclass(frozen=True, slots=True)
class Case:
    """One way a choice can go: its condition and what to do then."""

    condition: Condition
    body: tuple["Part", ...]
    focus: Statement | None = None
    """What the condition speaks of, when it names a source or something to derive: `any line of the file contains`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Cases tried in order, and what to do when none fits; `subject` is what a choice of equal values looks at."""

    cases: tuple[Case, ...]
    otherwise: tuple["Part", ...] = ()
    subject: str = ""


Part = Statement | Choice
