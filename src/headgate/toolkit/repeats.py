"""Detects a caller that repeats calls without progress: the same call again, or two alternating calls."""

from collections import deque
from dataclasses import dataclass, field

from pydantic import JsonValue

Result = dict[str, JsonValue]
MOST_ALIKE = 2
"""How often the same call is answered while nothing changes: the first time, and once more with the same result."""
MOST_ROUNDS = 3
"""How often two calls may alternate before they are refused."""
STUCK_AFTER = 6
"""Consecutive refused repeats after which a turn ends."""
_SAME_AGAIN = "You made this very call before and nothing has changed since; this is what was answered then."


@dataclass(slots=True)
class CallLedger:
    """The calls of one request and their results."""

    refused_in_a_row: int = 0
    _said: dict[str, tuple[object, int, Result]] = field(default_factory=dict)
    """Call to the state of the work, how often it was made in it, and the result."""
    _latest: deque[tuple[str, object]] = field(default_factory=lambda: deque(maxlen=2 * MOST_ROUNDS))
    """The latest calls, each with the state of the work before it."""

    @property
    def stuck(self) -> bool:
        """Whether the latest calls were all refused repeats."""
        return self.refused_in_a_row >= STUCK_AFTER

    def look(self, key: str, state: object, work: object, *, replay: bool) -> Result | None:
        """Return the answer to a repeated call; None when it should be executed.

        Args:
            key: The call, as `cache.call_key` writes it.
            state: What the work is like, equal as long as nothing changed; a call on another state is another call.
            work: The work itself; two calls that take turns and always find it the same get nowhere.
            replay: Whether a second time is answered with the first answer. Not for what comes out differently each
                time (a run, generated code): such a call is run twice, then refused.
        """
        self._latest.append((key, work))
        if self._in_turns():
            return self._refused(_IN_TURNS)
        seen, times, answer = self._said.get(key, (None, 0, {}))
        if seen != state:
            return None
        if times >= MOST_ALIKE:
            return self._refused(_NO_MORE.format(times=times))
        if not replay:
            return None
        self._said[key] = (state, times + 1, answer)
        return answer | {"note": _SAME_AGAIN}

    def keep(self, key: str, before: object, state: object, answer: Result) -> None:
        """Record the result of a call; `before` and `state` are the states of the work before and after."""
        self.refused_in_a_row = 0
        seen, times, _ = self._said.get(key, (None, 0, {}))
        if before == state:
            self._said[key] = (state, times + 1 if seen == state else 1, answer)

    def _in_turns(self) -> bool:
        """Whether the latest calls alternate (A, B, A, B ...) without changing the work."""
        calls = list(self._latest)
        if len(calls) < 2 * MOST_ROUNDS or calls[0][0] == calls[1][0]:
            return False
        return calls[0][0] == calls[2][0] and all(calls[at] == calls[at + 2] for at in range(1, len(calls) - 2))

    def _refused(self, why: str) -> Result:
        self.refused_in_a_row += 1
        return {"ok": False, "error": why, "remedy": _REMEDY, "code": "repeated_call"}


_NO_MORE = "You have made this very call {times} times and nothing has changed between; it was not executed again."
_IN_TURNS = "You make the same two calls in turns without getting further; this one was not executed."
_REMEDY = "Stop and tell the user what you have and what does not work, or do something else."
