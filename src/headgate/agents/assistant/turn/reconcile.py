"""Decides which flow updates a page receives, and which complete flows it applies at once (seed 000 ADR-MCP-039).

A complete flow (`set_flow`) is a proposal until a user accepts it. When the turn also ran the flow (`flow_ran`) it is
saved and its results are shown, so the page applies it at once: `auto_apply`. That holds in every order of the two,
in one batch or in several, and depends on the updates alone: the words of the request are not known here.

| so far                 | batch                | forwarded                                             |
|------------------------|----------------------|-------------------------------------------------------|
| nothing                | set_flow             | set_flow, to be accepted by a user                    |
| nothing                | set_flow, flow_ran   | set_flow with auto_apply                              |
| nothing                | flow_ran, set_flow   | set_flow with auto_apply                              |
| a set_flow that waits  | flow_ran             | that set_flow once more, as it ran, with auto_apply   |
| a run                  | set_flow             | set_flow with auto_apply                              |
| any                    | further flow_ran     | nothing                                               |

A flow that was stored for its tests (`flow_saved`) is accepted as one that was run; a later `set_flow` is a proposal.
`flow_ran` and `flow_saved` themselves are never forwarded; all other updates are, unchanged and in their order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headgate.toolkit.actions import Action

_STORED = frozenset({"flow_ran", "flow_saved"})


@dataclass(frozen=True, slots=True)
class SentActions:
    """What the page has received so far in this turn."""

    waiting: Action | None = None
    """The whole flow that it shows as a proposal."""
    ran: bool = False
    """Whether the turn ran a flow."""


def reconcile(sent_before: SentActions, batch: Iterable[Action]) -> tuple[tuple[Action, ...], SentActions]:
    """Return which updates of a batch to forward, and what the page has received after that."""
    updates = tuple(batch)
    ran = sent_before.ran or any(update["action"] == "flow_ran" for update in updates)
    waiting = sent_before.waiting
    forwarded: list[Action] = []
    for update in updates:
        waiting, sent = _next(waiting, update, ran=ran)
        forwarded.extend(sent)
    return tuple(forwarded), SentActions(waiting=waiting, ran=ran)


def _next(waiting: Action | None, update: Action, *, ran: bool) -> tuple[Action | None, tuple[Action, ...]]:
    """The proposal that waits after an update, and what is forwarded for it."""
    if update["action"] in _STORED:
        return None, tuple(_taken_over(waiting, update))
    if update["action"] != "set_flow":
        return waiting, (update,)
    if ran or update.get("auto_apply"):
        return None, (update | {"auto_apply": True},)
    return update, (update,)


def _taken_over(waiting: Action | None, ran: Action) -> Iterator[Action]:
    """The proposal that waits, as the flow was when it ran: edits that came after it are in there."""
    if waiting is not None:
        yield waiting | {"auto_apply": True, "flow": ran.get("flow") or waiting["flow"]}
