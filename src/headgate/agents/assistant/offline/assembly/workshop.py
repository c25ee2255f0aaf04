"""The state of one assembly: the draft, the values made so far, and what the user must be told."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from headgate.agents.assistant.offline.assembly.draft import Draft
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.grammar.operations import Operation
from headgate.agents.assistant.offline.language.reading import Reading


@dataclass(slots=True)
class Workshop:
    """What the steps of an assembly share."""

    draft: Draft
    reading: Reading
    default_model: str | None = None
    values: list[Value] = field(default_factory=list)
    current: list[Value] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    """Parts that Headgate cannot do, each with why."""
    lacking_at: list[tuple[int, int]] = field(default_factory=list)
    """The tokens that say them."""
    needs_model: list[str] = field(default_factory=list)
    """Parts that need a language model while none is configured."""
    unsaved: list[str] = field(default_factory=list)
    """Ids of SaveFile nodes that still have an assumed name."""
    title: str = ""
    """The heading asked for, for what is combined or saved next."""
    pending_wait: float | None = None
    """Seconds to wait before the first source that can be waited for."""
    last_filter: tuple[Value, Operation] | None = None
    """What was filtered last and how, for `the others`."""
    last_column: str = ""
    """The column spoken of last in the whole request, for `for each one`."""
    outputs: list[str] = field(default_factory=list)
    """Ids of nodes that give something to the user."""

    def __post_init__(self) -> None:
        for part in self.reading.taken_back:
            self.assume(f"I took '{part.rstrip(' .,:;!?-')}' as taken back.")

    def take_wait(self) -> float:
        """The pending wait, which is then done with."""
        seconds, self.pending_wait = self.pending_wait or 0, None
        return seconds

    def assume(self, note: str) -> None:
        """Remember what was taken for granted, once."""
        if note not in self.assumed:
            self.assumed.append(note)

    def keep(self, value: Value) -> Value:
        """Make a value known to later references."""
        self.values.append(value)
        return value

    def use(self, value: Value) -> None:
        """Note that something reads a value."""
        value.consumed = True

    def tagged(self, words: Iterable[str]) -> list[Value]:
        """The latest value that these words may refer to: the one that shares most of them."""
        wanted = set(words)
        best: Value | None = None
        best_score = 0
        for value in reversed(self.values):
            score = len(wanted & value.tags)
            if score > best_score:
                best, best_score = value, score
        return [best] if best is not None else []
