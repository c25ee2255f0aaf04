"""The context of a phase's model: from the state's fields, never from the output of tools (DD-009)."""

import json
from collections.abc import Sequence
from typing import Any

from headgate.agents.codev.domain import Held, Workplace
from headgate.agents.codev.state import AgentState, Conflicted, Trial
from headgate.agents.codev.workflow.messages import data, model, user_message
from headgate.foundation.errors import NotFound
from headgate.foundation.quoting import clipped_to, shortened
from headgate.graph.cases import TestCase

LONGEST_FLOW = 30_000
"""Characters of a flow's description."""
_LONGEST_ANSWER = 1_500
_LONGEST_MESSAGE = 500
_MOST_SHOWN = 12
"""Trials that are shown with their answers; failed ones come first."""


def opening(state: AgentState, *more: str) -> dict[str, Any]:
    """The first message of a phase: what is wanted, and what was found."""
    parts = [f"# Requirement\n\n{state['requirement']}"]
    clarification = state.get("clarification")
    if clarification:
        asked = "\n".join(f"- {question}" for question in state.get("questions") or [])
        parts.append(f"# Clarification by the person\n\n{asked}\n\nThe answer:\n\n{clarification}".strip())
    wishes = "\n\n".join(f"- {wish}" for wish in state.get("wishes") or [])
    if wishes:
        parts.append(
            f"# What the person said since\n\nIt goes before the requirement; the last is the newest.\n\n{wishes}"
        )
    discovered = state.get("discovery_summary")
    if discovered:
        parts.append(f"# Discovery\n\n{data('the discovery', discovered)}")
    missing = state.get("missing_credentials")
    if missing:
        types = ", ".join(str(credential.get("type", "")) for credential in missing)
        parts.append(f"# Missing credentials\n\nThe user chose to continue without these: {types}.")
    return user_message("\n\n".join([*parts, *(part for part in more if part)]))


def wished(state: AgentState, wish: str) -> list[str]:
    """What the user wants in addition to the requirement: it applies to every later phase, the verdict too."""
    return [*(state.get("wishes") or []), *([wish] if wish else [])]


def flow_described(workplace: Workplace, held: Held | None) -> str:
    """Return the current flow in the place's own lines, without secrets."""
    if held is None:
        return "# Flow\n\nThere is no flow yet: one has to be made."
    lines = "\n".join(workplace.compare(None, held.definition))
    described = data("the flow as it is now", f"{held.name}\n{lines}", LONGEST_FLOW)
    return f"# Flow\n\nThe session's flow has the id {held.flow_id}.\n\n{described}"


async def flow_now(state: AgentState, workplace: Workplace) -> str:
    """The session's flow as it is stored now."""
    flow_id = state.get("flow_id")
    try:
        return flow_described(workplace, await workplace.read(flow_id) if flow_id else None)
    except NotFound:  # before anything is written, it turns out to be a conflict
        return "# Flow\n\nThe session's flow is not there any more."


def earlier_plan(state: AgentState) -> list[dict[str, Any]]:
    """The plan before this one with its tests, as the model is asked to write them."""
    plan, cases = state.get("plan"), state.get("cases") or []
    if not plan:
        return []
    written = [TestCase.model_validate(case).model_dump(mode="json", exclude_defaults=True) for case in cases]
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in written)
    return [model(f"{plan}\n\n```tests\n[\n{lines}\n]\n```" if lines else plan)]


def describe_trials(trials: Sequence[Trial], total: int) -> str:
    """What came of the tests, the failed ones first."""
    if not trials:
        return "# Tests\n\nNone were run: there is no flow."
    passed = sum(trial["passed"] for trial in trials)
    ordered = sorted(trials, key=lambda trial: trial["passed"])[:_MOST_SHOWN]
    shown = "\n\n".join(_trial(trial) for trial in ordered)
    left = len(trials) - len(ordered)
    more = f"\n\n{left} more are not shown." if left else ""
    return f"# Tests\n\n{passed} of {total} trials passed.\n\n{data('the tests', shown)}{more}"


def describe_conflict(conflict: Conflicted | None) -> str:
    """That somebody else changed the flow, and what."""
    if conflict is None:
        return ""
    lines = "\n".join(conflict["lines"])
    changed = f"\n\n{data('what they changed', lines, LONGEST_FLOW)}" if lines else ""
    message = shortened(" ".join(conflict["message"].split()), _LONGEST_MESSAGE)
    return f"# Somebody else changed the flow\n\n{message} Keep what they did.{changed}"


def _trial(trial: Trial) -> str:
    lines = [f"{trial['case']}, trial {trial['trial']}: {'passed' if trial['passed'] else 'FAILED'}"]
    if trial["error"]:
        lines.append(f"error: {trial['error']}")
    lines += [f"the answer {miss}" for miss in trial["misses"]]
    return "\n".join([*lines, f"answer: {clipped_to(trial['answer'], _LONGEST_ANSWER)}"])
