"""Reads what the tools answered and says truthfully what came of a request."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.agents.assistant.offline.files import answers
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.replies import quoted, signed
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.names import clipped

_NEAREST = re.compile(r"[Dd]id you mean '([^']+)'")
_WRONG = re.compile(r"'([^']+)'")
ReadBack = tuple[Sequence[str], Sequence[str]]
"""Lines on what a request added to the flow, and on what it was to add and did not."""
_LONGEST_OUTPUT = 600
_MOST_NEAR = 3
_STARTING = frozenset({"set_schedule", "set_trigger"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool call came to."""

    action: Action
    ok: bool
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def trouble(self) -> str:
        """The error and its remedy, as the tool gave them."""
        return " ".join(str(self.answer.get(name, "")) for name in ("error", "remedy")).strip()


def outcome_of(action: Action, text: str) -> Outcome:
    """A tool's answer, read. Anything but JSON with `ok` counts as an error and is quoted."""
    try:
        answer = orjson.loads(str(text))
    except ValueError:
        return Outcome(action, ok=False, answer={"error": clipped(text, 300)})
    if not isinstance(answer, dict):
        return Outcome(action, ok=False, answer={"error": clipped(text, 300)})
    return Outcome(action, ok=bool(answer.get("ok", "error" not in answer)), answer=answer)


def corrected(action: Action, outcome: Outcome) -> Action | None:
    """The call with the wrong name replaced by the nearest one the error gave; None when it gave none."""
    text = outcome.trouble + " " + " ".join(str(issue) for issue in outcome.answer.get("issues") or ())
    nearest = _NEAREST.search(text)
    wrong = next(
        (name for name in _WRONG.findall(text[: nearest.start()] if nearest else "") if _occurs(name, action)), None
    )
    if nearest is None or wrong is None or wrong == nearest[1]:
        return None
    replaced = {key: _replaced(value, wrong, nearest[1]) for key, value in action.arguments.items()}
    return Action(action.tool, replaced) if replaced != action.arguments else None


def _occurs(name: str, action: Action) -> bool:
    return any(name in str(value) for value in action.arguments.values())


def _replaced(value: JsonValue, wrong: str, right: str) -> JsonValue:
    if isinstance(value, str):
        return (
            re.sub(rf"(?<![\w.]){re.escape(wrong)}(?!\w)", lambda _: right, value)
            if "\n" in value
            else right
            if value == wrong
            else value
        )
    if isinstance(value, dict):
        return {right if key == wrong else key: _replaced(item, wrong, right) for key, item in value.items()}
    return value


def succeeded(understanding: Understanding, outcomes: Sequence[Outcome]) -> bool:
    """Whether what was asked for was done, or answered; a run that failed says so itself."""
    if not understanding.actions or understanding.intent == "generate_component":
        return understanding.intent == "question"
    return bool(outcomes) and (outcomes[-1].ok or outcomes[-1].action.tool == "run_flow")


def conclude(understanding: Understanding, outcomes: Sequence[Outcome], read: ReadBack = ((), ())) -> str:
    """The closing words: what was done, what the flow has now that was read back from it, and what a run returned."""
    language = understanding.language
    if not understanding.actions:
        return signed(understanding.reply, language)
    if understanding.intent == "generate_component":
        return signed(_nearest(understanding, outcomes), language)
    failed = next(
        (outcome for outcome in reversed(outcomes) if not outcome.ok and outcome.action.tool != "run_flow"), None
    )
    last_ok = bool(outcomes) and (outcomes[-1].ok or outcomes[-1].action.tool == "run_flow")
    present = _listed("in_flow", read[0], language)
    if failed is not None and not last_ok:
        return signed("\n\n".join([_refused(failed), *present]), language)
    if understanding.intent == "question":
        return signed(_answered(understanding, outcomes), language)
    parts = [understanding.restatement]
    if understanding.done and not read[1]:
        parts.append(f"{understanding.done} {_steps(understanding, outcomes)}".strip())
    parts += [*present, *_listed("missing_part", read[1], language)]
    parts += [_trigger(outcome, language) for outcome in outcomes if outcome.action.tool in _STARTING]
    parts += [_ran(outcome) for outcome in outcomes if outcome.action.tool == "run_flow"]
    parts += [
        answers.describe(outcome.action, outcome.answer)
        for outcome in outcomes
        if outcome.ok and answers.has_description(outcome.action.tool)
    ]
    parts += [f"I did not act on: {quoted(understanding.left_out)}."] if understanding.left_out else []
    return signed("\n\n".join(part for part in (*parts, understanding.reply) if part), language)


def _listed(key: str, lines: Sequence[str], language: Language) -> list[str]:
    """A title with its lines; nothing without lines."""
    return ["\n".join([message(key, language), "", *(f"- {line}" for line in lines)])] if lines else []


def _refused(failed: Outcome) -> str:
    if answers.has_description(failed.action.tool):
        return answers.refused(failed.action, failed.trouble)
    return f"That failed: {failed.action.tool}: {failed.trouble}"


def _nearest(understanding: Understanding, outcomes: Sequence[Outcome]) -> str:
    """That no component was made, and which of those that there are comes near, as the search said."""
    rows = [row for outcome in outcomes for row in outcome.answer.get("components") or () if isinstance(row, dict)]
    lines = "\n".join(f"- {row.get('type')}: {row.get('what')}" for row in rows[:_MOST_NEAR])
    return understanding.reply + (f"\n\nOf the components that there are, these come nearest:\n{lines}" if rows else "")


def _steps(understanding: Understanding, outcomes: Sequence[Outcome]) -> str:
    """The steps of a flow that was built, and what keeps it from running as the tool said."""
    built = next((outcome for outcome in outcomes if outcome.action.tool == "build_flow"), None)
    if built is None or understanding.flow is None:
        return ""
    names = ", ".join(node.id for node in understanding.flow.nodes)
    issues = [
        str(issue.get("message", issue)) if isinstance(issue, dict) else str(issue)
        for issue in built.answer.get("issues") or ()
    ]
    trouble = f" Before it can run: {'; '.join(issues)}" if issues else ""
    count = built.answer.get("nodes", len(understanding.flow.nodes))
    return message("steps_count", understanding.language, count=count, names=names) + trouble


def _answered(understanding: Understanding, outcomes: Sequence[Outcome]) -> str:
    """A question's answer, with what the flow still lacks when the tool said so."""
    issues = [
        str(issue.get("message", issue)) if isinstance(issue, dict) else str(issue)
        for outcome in outcomes
        for issue in outcome.answer.get("issues") or ()
    ]
    return understanding.reply + (f"\n\nBefore it can run: {'; '.join(issues)}" if issues else "")


def _trigger(outcome: Outcome, language: Language) -> str:
    """Which trigger was added, and what it still waits for, as the tool said."""
    answer = outcome.answer
    added = message("trigger_added", language, name=answer.get("name", ""), fires=answer.get("fires", ""))
    return f"{added} {answer.get('note', '')}".strip()


def _ran(outcome: Outcome) -> str:
    """What a run gave, read from the tool's answer and nothing else."""
    answer = outcome.answer
    if "status" not in answer:
        return f"The run did not start: {outcome.trouble}"
    report = f"Run {answer.get('run_id', '')}: {answer['status']}"
    if isinstance(answer.get("duration_seconds"), int | float):
        report += f" in {answer['duration_seconds']:.1f} s"
    report += "."
    if answer.get("error"):
        report += f" {answer['error']}"
    outputs = answer.get("outputs")
    for name, value in outputs.items() if isinstance(outputs, dict) else ():
        shown = value if isinstance(value, str) else orjson.dumps(value).decode()
        report += f"\n\n{name}:\n{shown[:_LONGEST_OUTPUT]}{'…' if len(shown) > _LONGEST_OUTPUT else ''}"
    files = [str(file.get("name")) for file in answer.get("files") or () if isinstance(file, dict)]
    return report + (f"\n\nFiles: {', '.join(files)}." if files else "")
