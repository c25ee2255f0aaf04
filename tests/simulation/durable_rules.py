"""What must hold of runs that wait for users, events, slots and other runs."""

from collections import Counter
from typing import Any

from tests.simulation.answers import Answers
from tests.simulation.flows import CHILDREN, MOST_RUNS, MOST_STEPS, NEEDED, SHARED_LIMITS
from tests.simulation.machine import EPOCH_SECONDS
from tests.simulation.rules import Rules
from tests.simulation.sessions import LOCK_SECONDS

LATE_SECONDS = 30.0
"""How long a step may wait on, when nothing goes wrong, after what it waits for is there."""
_STEP = (
    "FROM flow_step_results s JOIN flow_runs r ON r.id = s.flow_run_id WHERE s.status = 'waiting'"
    " AND r.status = 'waiting'"
)
_ANSWERED = {
    "a decision": "(SELECT max(a.decided_at) FROM approvals a WHERE a.flow_run_id = s.flow_run_id"
    " AND a.step_id = s.step_id AND a.status <> 'pending')",
    "an event": "(SELECT max(e.settled_at) FROM event_waits e WHERE e.flow_run_id = s.flow_run_id"
    " AND e.step_id = s.step_id AND e.status <> 'waiting')",
    "the end of its runs": "(SELECT max(c.finished_at) FROM flow_runs c WHERE c.parent_run_id = s.flow_run_id"
    " AND c.parent_step_id = s.step_id AND s.waits_for = 'run' HAVING count(*) = sum(c.finished_at IS NOT NULL))",
    "its time": "s.due_at",
}
"""What a step has that waits on, to when it got it."""
_BRANCHES = {"approved": "b", "rejected": "c", "timed_out": "d"}


class DurableRules:
    """Looks at the rows of a durable plan.

    Args:
        rules: The rules of every plan.
        answers: What users and programs did.
    """

    def __init__(self, rules: Rules, answers: Answers) -> None:
        self._rules = rules
        self._answers = answers
        self._plan = rules.plan
        self._fail = rules.fail
        self._late: set[tuple[str, str]] = set()
        """Run and step that had waited for too long at the last look."""

    def check_slots(self, flow: str, run_id: str, step: str) -> None:
        """No more bodies run at the same time than their limits allow; the highest priority is first."""
        calm = [place for place in self._rules.calm_bodies if not self._is_interrupted(place[0])]
        for name, (places, most) in SHARED_LIMITS.items():
            if (flow, step) in places:
                users = [place for place in calm if (self._rules.flow_of(place[0]), place[1]) in places]
                if len(users) > most:
                    self._fail(f"above the limit: {len(users)} steps use {name}; {most} may")
        others = [place for place in calm if self._rules.flow_of(place[0]) == flow]
        runs = {place[0] for place in others}
        if flow == "limited" and len(runs) > MOST_RUNS:
            self._fail(f"above the limit: {len(runs)} runs of {flow} run; {MOST_RUNS} may")
        if flow == "keyed" and len(others) > MOST_STEPS:
            self._fail(f"above the limit: {len(others)} steps of {flow} run; {MOST_STEPS} may")
        if flow == "limited" and step == "a":
            self._check_turn(run_id)

    def _check_turn(self, run_id: str) -> None:
        if self._plan.sets_clocks:
            return
        for (other_id,) in self._rules.rows(
            "SELECT q.flow_run_id FROM run_slots own JOIN run_slots q ON q.name = own.name AND q.granted_at IS NULL"
            " JOIN flow_runs r ON r.id = q.flow_run_id AND r.status IN ('queued', 'running', 'waiting')"
            " WHERE own.flow_run_id = ? AND own.step_id = '' AND q.priority > own.priority"
            " AND q.requested_at < own.granted_at - ?",
            run_id,
            int(2 * LOCK_SECONDS * 1_000_000),
        ):
            if not self._is_interrupted(other_id):
                numbers = [self._rules.planned(one).number for one in (run_id, other_id)]
                self._fail(f"out of turn: run {numbers[0]} has a slot and run {numbers[1]} of higher priority waits")

    def _is_interrupted(self, run_id: str) -> bool:
        """Whether its slots may be given to others while a step of it still runs."""
        planned = self._rules.planned(run_id)
        return planned.cancel_after is not None or planned.is_paused or planned.deadline_seconds is not None

    def check_waiting(self) -> None:
        """No step waits on that has what it waits for; asked now and then, while nothing goes wrong.

        A run that was paused meanwhile may have continued just now: it is late the second time.
        """
        if self._plan.sets_clocks:
            return
        before = int((EPOCH_SECONDS + self._rules.now - LATE_SECONDS) * 1_000_000)
        late: dict[tuple[str, str], str] = {}
        for what, moment in _ANSWERED.items():
            rows = self._rules.rows(f"SELECT s.flow_run_id, s.step_id {_STEP} AND {moment} < ?", before)
            late |= dict.fromkeys(rows, what)
        for (run_id, step), what in late.items():
            if (run_id, step) in self._late:
                number = self._rules.planned(run_id).number
                self._fail(f"not woken: step {step} of run {number} has {what} for {LATE_SECONDS:g} s and waits")
        self._late = set(late)

    def check_ends(self) -> None:
        """Every answer had one effect."""
        for row in self._rules.rows("SELECT id, flow_run_id, status, approvals, due_at FROM approvals"):
            self._check_decisions(*row)
        self._check_questions()
        self._check_events()
        self._check_event_waits()
        self._check_handlers()
        self._check_children()
        self._check_wakes()

    def _check_questions(self) -> None:
        steps = Counter(self._rules.rows("SELECT flow_run_id, step_id FROM approvals"))
        if repeated := [place for place, count in steps.items() if count > 1]:
            self._fail(f"asked again: {repeated}")

    def _check_decisions(self, approval_id: str, run_id: str, status: str, approvals: int, due: int) -> None:
        number = self._rules.planned(run_id).number
        rows = self._rules.rows(
            "SELECT user_id, decision, decided_at FROM approval_decisions WHERE approval_id = ?", approval_id
        )
        counts = Counter(row[1] for row in rows)
        expected = {
            "approved": counts["approve"] == NEEDED and not counts["reject"],
            "rejected": counts["approve"] < NEEDED and counts["reject"] == 1,
        }.get(status, counts["approve"] < NEEDED and not counts["reject"])
        if not expected or counts["approve"] != approvals:
            self._fail(f"decided otherwise: the approval of run {number} is {status} by {rows}")
        if lost := set(self._answers.accepted[approval_id]) - {row[:2] for row in rows}:
            self._fail(f"decision lost: {lost} of run {number}")
        if invented := {row[:2] for row in rows} - self._answers.requested[approval_id]:
            self._fail(f"decision invented: {invented} of run {number}")
        if not self._plan.sets_clocks and any(row[2] >= due for row in rows):
            self._fail(f"decided late: run {number}")
        audited = self._rules.row("SELECT count(*) FROM audit_events WHERE resource_id = ?", approval_id)[0]
        if audited != len(rows):
            self._fail(f"not audited: run {number} has {len(rows)} decisions and {audited} entries")
        if self._rules.status(run_id) == "completed":
            self._check_branch(run_id, status, number)

    def _check_branch(self, run_id: str, status: str, number: int) -> None:
        taken = self._rules.rows(
            "SELECT step_id FROM flow_step_results WHERE flow_run_id = ? AND status = 'completed'"
            " AND step_id IN ('b', 'c', 'd')",
            run_id,
        )
        if [step for (step,) in taken] != [_BRANCHES.get(status)]:
            self._fail(f"wrong branch: run {number} is {status} and took {taken}")

    def _check_events(self) -> None:
        rows = self._rules.rows("SELECT id, event_key, deliver, deliveries FROM sent_events")
        by_key = Counter(row[1] for row in rows)
        for number in self._answers.sent:
            if by_key[f"key:event-{number}"] != 1:
                self._fail(f"event lost or doubled: event {number} has {by_key[f'key:event-{number}']} rows")
        for event_id, key, deliver, deliveries in rows:
            count = self._rules.row("SELECT count(*) FROM event_waits WHERE event_id = ?", event_id)[0]
            if count != deliveries or (deliver == "one" and count > 1):
                self._fail(f"delivered otherwise: {key} for {deliver} reached {count} steps and counts {deliveries}")

    def _check_event_waits(self) -> None:
        """No wait timed out although an event was there that it could have received."""
        if self._plan.sets_clocks:
            return
        missed = self._rules.row(
            "SELECT w.flow_run_id, e.event_key FROM event_waits w JOIN sent_events e ON e.name = w.name"
            " AND e.correlation = w.correlation AND e.received_at < w.due_at AND (e.keep_until > w.created_at"
            " AND e.received_at < w.created_at OR e.received_at > w.created_at)"
            " WHERE w.status = 'timed_out' AND (e.deliver = 'all' OR e.deliveries = 0)"
        )
        if missed is not None:
            self._fail(f"event missed: run {self._rules.planned(missed[0]).number} timed out next to {missed[1]}")

    def _check_handlers(self) -> None:
        failed = self._rules.rows(
            "SELECT r.id, h.status, h.problem, (SELECT count(*) FROM flow_runs c WHERE c.id = h.handler_run_id)"
            " FROM flow_runs r LEFT JOIN failure_handlers h ON h.failed_run_id = r.id"
            " WHERE r.status = 'failed' AND r.error_flow IS NOT NULL"
        )
        for run_id, status, problem, runs in failed:
            if (status, runs) != ("started", 1):
                number = self._rules.planned(run_id).number
                self._fail(f"not handled: run {number} failed; its handler is {status} ({problem}), {runs} runs")
        count = self._rules.row("SELECT count(*) FROM flow_runs WHERE flow_id = ?", self._rules.flow_ids["handler"])[0]
        if count != len(failed):
            self._fail(f"handled again: {len(failed)} runs failed and {count} handlers ran")

    def _check_children(self) -> None:
        """Each run of a step was started once, and none outlives it."""
        repeated = self._rules.row(
            "SELECT parent_run_id FROM flow_runs WHERE parent_run_id IS NOT NULL"
            " GROUP BY parent_run_id, parent_step_id, parent_iteration HAVING count(*) > 1"
        )
        if repeated is not None:
            self._fail(f"started again: an iteration of run {self._rules.planned(repeated[0]).number}")
        for run_id, planned in self._rules.started.items():
            if planned.flow in CHILDREN and self._rules.status(run_id) == "completed":
                states = self._rules.rows("SELECT status FROM flow_runs WHERE parent_run_id = ?", run_id)
                if states != [("completed",)] * CHILDREN[planned.flow]:
                    self._fail(f"not all: run {planned.number} ({planned.flow}) is completed with {states}")

    def _check_wakes(self) -> None:
        """A step that waits for one thing waits once, unless its run was paused or resumed, or a worker died."""
        if self._plan.sets_clocks or self._plan.faults:
            return
        for run_id, step, count in self._rules.rows(
            "SELECT flow_run_id, step_id, count(*) FROM flow_step_attempts WHERE status = 'suspended'"
            " AND step_id IN ('e', 'p', 'w') GROUP BY flow_run_id, step_id HAVING count(*) > 1"
        ):
            planned = self._rules.planned(run_id)
            if not planned.is_paused and not planned.fails_once:
                self._fail(f"woken in vain: step {step} of run {planned.number} was suspended {count} times")


def settled(rules: Rules) -> bool:
    """Whether no handler of a failed run is still to be started."""
    waiting: Any = rules.row(
        "SELECT 1 FROM flow_runs r LEFT JOIN failure_handlers h ON h.failed_run_id = r.id"
        " WHERE r.status = 'failed' AND r.error_flow IS NOT NULL AND coalesce(h.status, 'due') = 'due'"
    )
    return waiting is None
