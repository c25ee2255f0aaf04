"""What `complete` reports as done: read back from the working flow, its actions and its runs, not from a model's words.

`report(turn, answer)` gives these members of `complete`:

| member      | what it is                                                                                    |
|-------------|-----------------------------------------------------------------------------------------------|
| changes     | lines of the difference between the flow before the turn and after it                         |
| edits       | each change made: action, what it is about, its diff, its validation, run_id of a later run   |
| proposals   | each edit that waits for the person, likewise                                                 |
| proposal    | whether the flow is a new one that the user must still accept                               |
| plan        | the plan that waits for the person; empty when there is none                                  |
| done        | what was done, a sentence each: files, components, runs, how many changes                     |
| note        | a sentence when the answer claims what did not happen; empty when not                         |
| outside     | sources of content from outside that was read, and tool calls refused after it                |
| stopped     | `budget`, `loop` or `answer` when the turn was ended early; empty when not; why: `stop_note`  |
| runs        | each run: run_id, status, and what it took and used                                           |
| usage_by_phase | tokens of each phase of the turn                                                           |
"""

from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.turn.turn import Turn
from headgate.agents.assistant.verification.claims import false_claims
from headgate.agents.assistant.verification.happened import happened
from headgate.toolkit.actions import Action
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.proof import diff_lines
from headgate.toolkit.running import metrics

_PARTS = ("id", "type", "source", "output", "target", "input")
_ABOUT = ("component_id", "component_type", "field", "new_id", "description", "id")


def report(turn: Turn, answer: str) -> dict[str, Any]:
    """The outcome of the turn, in addition to the model's answer."""
    bench = turn.bench
    changes = diff_lines(turn.before, bench.flow, bench.registry)
    return {
        "changes": changes,
        "edits": list(_edits(turn)),
        "proposals": [_proven(action) for action in bench.proposals],
        "proposal": bench.pending,
        "plan": bench.plan,
        "done": _done(turn, changes),
        "note": " ".join(false_claims(answer, happened(turn))),
        "outside": bench.outside.as_json(),
        "stopped": turn.stopped,
        "stop_note": turn.stop_note,
        "runs": [_run(outcome) for outcome in bench.runs],
        "usage_by_phase": {phase: tokens.as_json() for phase, tokens in turn.usage.phases.items()},
    }


def _edits(turn: Turn) -> Iterator[dict[str, JsonValue]]:
    """Each change with its proof; an undone one is marked, and later runs do not count for it."""
    edits = [(number, action) for number, action in enumerate(turn.bench.actions) if "diff" in action]
    undone = _undone(edits)
    for number, action in edits:
        back = undone.get(number)
        run = next(
            (id_ for id_, mark in turn.bench.ran_after if number < mark and (back is None or mark <= back)), None
        )
        yield _proven(action) | ({"run_id": run} if run else {}) | ({"undone": True} if back is not None else {})


def _undone(edits: list[tuple[int, Action]]) -> dict[int, int]:
    """Map the number of each undone action to the number of the action that undid it."""
    standing: list[int] = []
    undone: dict[int, int] = {}
    for number, action in edits:
        if action.get("undo") and standing:
            undone[standing.pop()] = number
        elif not action.get("undo"):
            standing.append(number)
    return undone


def _proven(action: Action) -> dict[str, JsonValue]:
    about = {name: action[name] for name in _ABOUT if name in action}
    return {"action": action["action"], **about, **_edge(action), "diff": action["diff"], **_valid(action)}


def _edge(action: Action) -> dict[str, JsonValue]:
    """The parts that a connection or a new node is about."""
    for name in ("edge", "node"):
        part = action.get(name)
        if isinstance(part, dict):
            return {name: {key: part[key] for key in _PARTS if key in part}}
    return {}


def _valid(action: Action) -> dict[str, JsonValue]:
    return {"validation": action["validation"]}


def _run(outcome: RunOutcome) -> dict[str, JsonValue]:
    return {"run_id": outcome.run_id, "status": outcome.status, "error": outcome.error, **metrics(outcome)}


def _done(turn: Turn, changes: list[str]) -> list[str]:
    bench = turn.bench
    lines = []
    if changes:
        what = "proposed as a new flow" if bench.pending else "made"
        lines.append(f"{len(changes)} {'change' if len(changes) == 1 else 'changes'} {what}.")
    if bench.proposals:
        lines.append(f"{len(bench.proposals)} field {'edit' if len(bench.proposals) == 1 else 'edits'} proposed.")
    if bench.plan:
        lines.append("A plan proposed.")
    if bench.component is not None:
        lines.append(f"Component {bench.component.checked.type} proposed.")
    lines += [f"File {path} written." for path in dict.fromkeys(turn.files)]
    return lines + [f"Run {run.run_id}: {run.status}." for run in bench.runs]
