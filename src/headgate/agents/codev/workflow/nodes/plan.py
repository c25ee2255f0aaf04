"""Plan, and its approval (DD-010): nothing is written that no person approved."""

from typing import Any

from headgate.agents.codev.ports import Working
from headgate.agents.codev.schemas import PlanAnswer
from headgate.agents.codev.state import AgentState, Verdict
from headgate.agents.codev.workflow import prompts
from headgate.agents.codev.workflow.context import (
    describe_conflict,
    describe_trials,
    earlier_plan,
    flow_now,
    opening,
    wished,
)
from headgate.agents.codev.workflow.messages import model, user_message
from headgate.agents.codev.workflow.reading import Planned, dumped, read_plan
from headgate.agents.codev.workflow.routing import trials_wanted
from headgate.agents.codev.workflow.step import Update, ask, emit_phase
from headgate.foundation.quoting import clipped_to
from headgate.graph.cases import TestCase

LONGEST_PLAN = 60_000
"""Characters of a plan: it is read by a person, and sent in every later phase."""
NO_REASON = "The plan was not approved. No reason was given: propose another way."
_NO_TESTS = (
    "*The model wrote no valid test cases. The one below only checks that there is an answer; edit it "
    "before you approve.*"
)
_KEPT_TESTS = "*The model wrote no valid test cases: those of the previous plan are kept.*"
_AGAIN = (
    "The tests of that plan cannot be read. {fault} Write the whole plan again, ending with the block of tests: a JSON "
    "list of objects with `name`, `text` and `expect`."
)


async def plan(state: AgentState, working: Working) -> Update:
    """Write a plan with its tests; tests that cannot be read are asked for once more."""
    exchange = list(state.get("exchange") or [])
    if not exchange:
        emit_phase(state, working, "plan")
    system = prompts.system("plan", working.workplace)
    context = [*_context(state, working.domain, await flow_now(state, working.workplace)), *exchange]
    reply = await ask(state, working, "plan", context, system=system)
    planned = read_plan(reply.answer.text)
    if planned.fault and not exchange and not reply.over:
        answers = [model(clipped_to(reply.answer.text, LONGEST_PLAN))] if reply.answer.text.strip() else []
        return {**reply.used, "exchange": [*answers, user_message(_AGAIN.format(fault=planned.fault))]}
    before = read_plan(exchange[0]["data"]["content"]) if len(exchange) > 1 else Planned("")
    settled = _settled(state, planned, before)
    details = {name: settled[name] for name in ("plan", "cases")}
    working.emit("plan", {"iteration": state["iteration"], **details})
    return {**reply.used, **settled, "exchange": []}


def _settled(state: AgentState, planned: Planned, before: Planned) -> Update:
    """The plan and its cases. An approval that covers repairs holds while the approved cases stay as they are."""
    text = clipped_to(planned.plan or before.plan or "(The model wrote no plan.)", LONGEST_PLAN)
    cases, held = dumped(planned.cases), state.get("cases") or []
    if not cases:
        text = f"{text}\n\n{_KEPT_TESTS if held else _NO_TESTS}"
        cases = held or dumped([TestCase(name="answers", text=state["requirement"][:500])])
    covered = bool(state.get("approved"))
    changed = covered and not all(case in cases for case in held)
    earlier = state.get("plan")
    return {
        "plan": text,
        "cases": cases,
        "replaced": {"plan": earlier, "cases": held} if earlier else None,
        "approved": covered and not changed,
        "tests_changed": changed,
        "feedback": None,
        "messages": [{"role": "assistant", "content": text}],
    }


def ask_approval(state: AgentState) -> dict[str, Any]:
    """The plan as the person is shown it."""
    conflict, verdict = state.get("conflict"), state.get("converge_verdict")
    if conflict is not None:
        why = "Another user changed the flow, so a new plan was made. Approve it before anything is written."
    elif state.get("tests_changed"):
        why = "This repair changes tests that you approved. Approve the repair and the new tests."
    elif verdict is not None:
        why = "The result was not judged complete. Approve the repair."
    else:
        why = "Approve the plan, edit it, or say what to change. Nothing is written before."
    return {
        "type": "plan_approval",
        "prompt": why,
        "data": {
            "plan": state.get("plan", ""),
            "cases": state.get("cases") or [],
            "before": state.get("replaced"),
            "iteration": state["iteration"],
            "verdict": verdict,
            "conflict": conflict,
            "test_trials": state["test_trials"],
            "repairs_approved": bool(state.get("repairs_approved")),
            "tests_changed": bool(state.get("tests_changed")),
        },
    }


def take_approval(state: AgentState, answer: dict[str, Any]) -> Update:
    """Take the plan and the cases as they were edited; or what should be otherwise; or the end."""
    reply = PlanAnswer.model_validate(answer)
    update: Update = {}
    if reply.repairs_approved is not None:
        update["repairs_approved"] = reply.repairs_approved
    if reply.approved:
        return {**update, **_edited(state, reply), "approved": True, "conflict": None, "feedback": None}
    if reply.stop:
        return {**update, "approved": False, "stop_code": "rejected"}
    wish = reply.feedback.strip()
    feedback = wish or NO_REASON
    message = {"role": "user", "content": feedback}
    return {**update, "approved": False, "feedback": feedback, "wishes": wished(state, wish), "messages": [message]}


def _edited(state: AgentState, reply: PlanAnswer) -> Update:
    update: Update = {}
    if reply.plan is not None and reply.plan.strip() and reply.plan != state.get("plan"):
        edited = read_plan(reply.plan)
        update["plan"] = edited.plan or reply.plan
        update["messages"] = [{"role": "user", "content": f"The plan as I edited it:\n\n{update['plan']}"}]
        if edited.cases:
            update["cases"] = dumped(edited.cases)
    if reply.cases:
        update["cases"] = dumped(reply.cases)
    return update


def _context(state: AgentState, domain: str, flow: str) -> list[dict[str, Any]]:
    """What the plan is made from; after a verdict the verdict, then the playbook's entry (DD-019, DD-038)."""
    verdict, feedback = state.get("converge_verdict"), state.get("feedback")
    messages = [opening(state, flow), *earlier_plan(state)]
    if verdict is not None:
        known = prompts.playbook(domain, verdict["category"])
        messages += [
            user_message(describe_verdict(verdict)),
            user_message(f"# Playbook for {verdict['category']}\n\n{known}"),
        ]
    conflict = describe_conflict(state.get("conflict"))
    if verdict is not None or (conflict and state.get("trials")):
        messages.append(user_message(describe_trials(state.get("trials") or [], trials_wanted(state))))
    if conflict:
        messages.append(user_message(conflict))
    if feedback:
        messages.append(user_message(f"# What the person wants otherwise\n\n{feedback}"))
    return [*messages, user_message("Write the plan now, with its tests.")]


def describe_verdict(verdict: Verdict) -> str:
    """A verdict, for the context of the next plan."""
    return f"CONVERGE VERDICT [{verdict['category']}]: {verdict['reason']}\nFix: {verdict['fix']}"
