"""What a poll finds."""

from dataclasses import dataclass

from pydantic import JsonValue

from headgate.features.triggers.hooks.bodies import Upload
from headgate.features.triggers.polling.cursor import Cursor


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that starts a run, once."""

    key: str
    value: JsonValue
    """What the expressions of the trigger select from."""
    text: str | None = None
    """The text of its run; by default the value."""
    files: tuple[Upload, ...] = ()
    refusal: str = ""
    """Why it starts no run; its occurrence is kept with this reason."""


@dataclass(frozen=True, slots=True)
class PollResult:
    """What is new, the oldest first."""

    items: tuple[Item, ...]
    cursor: Cursor
    """After all of them."""
    more: bool = False
    """Whether the next poll may follow at once."""
    waits_for: str = ""
    """A folder that does not exist yet."""
    again_seconds: int | None = None
    """When to poll again at the latest: something may be incomplete."""
