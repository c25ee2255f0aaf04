"""What must hold of runs with deadlines and budgets, and of runs that operators pause."""

from collections import Counter

from tests.simulation.flows import BUDGETS, DAY_TOKENS, PAID_STEPS, RUN_TOKENS
from tests.simulation.machine import EPOCH_SECONDS
from tests.simulation.plan import CLOCK_JUMPS_SECONDS
from tests.simulation.rules import MARGIN_LEASES, Rules

DAY_SECONDS = 86_400
LATE_SECONDS = 30.0
"""How long a run may continue after its deadline, when nothing goes wrong."""
_BEGINS = frozenset({"step_started", "run_waiting"})
_PAUSES = {"run_paused": True, "run_continued": False}
_ENDS = {"run_failed": True, "run_cancelled": True, "run_completed": True, "run_started": False}


class LimitRules:
    """Looks at the calls of models, and at the rows of runs.

    Args:
        rules: The rules of every plan.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._fail = rules.fail
        self._calls: Counter[str] = Counter()
        """Run, and flow with a budget per day, to the calls that were made."""

    def check_call(self, flow: str, run_id: str, step: str) -> None:
        """No call is made that a budget does not cover: each is charged before, and costs one token."""
        if flow not in BUDGETS or step not in PAID_STEPS:
            return
        owner = run_id if flow == "spent" else flow
        self._calls[owner] += 1
        most = RUN_TOKENS if flow == "spent" else DAY_TOKENS * self._days
        if self._calls[owner] > most:
            number = self._rules.planned(run_id).number
            self._fail(f"above the budget: run {number} ({flow}) makes call {self._calls[owner]}; {most} are paid for")

    @property
    def _days(self) -> int:
        """How many days there may have been until now."""
        ahead = max(CLOCK_JUMPS_SECONDS) if self._rules.plan.sets_clocks else 0.0
        return 1 + (EPOCH_SECONDS % DAY_SECONDS + self._rules.now + ahead >= DAY_SECONDS)

    def _accounts(self, flow: str, run_id: str | None = None) -> list[int]:
        """Used tokens of each account of a run, or of each day of a flow."""
        rows = self._rules.rows(
            "SELECT used FROM budget_accounts WHERE flow_id = ? AND flow_run_id IS ?",
            self._rules.flow_ids[flow],
            run_id,
        )
        return [row[0] for row in rows]

    def check_ends(self) -> None:
        """Budgets and deadlines ended the runs that they had to end, and no other."""
        for run_id, status, code in self._rules.rows("SELECT id, status, error_code FROM flow_runs"):
            self._check_order(run_id)
            flow = self._rules.flow_of(run_id)
            if flow in BUDGETS:
                self._check_budget(run_id, flow, status, code)
        for run_id, planned in self._rules.started.items():
            if planned.deadline_seconds is not None and not self._rules.plan.sets_clocks:
                self._check_deadline(run_id, planned.deadline_seconds)

    def _check_order(self, run_id: str) -> None:
        """No step of a run begins while it is paused, nor after its end."""
        paused = over = False
        for kind, step in self._rules.rows(
            "SELECT kind, step_id FROM flow_run_events WHERE flow_run_id = ? ORDER BY seq", run_id
        ):
            number = self._rules.planned(run_id).number
            if kind in _BEGINS and paused:
                self._fail(f"not paused: step {step} of run {number} begins while the run is paused ({kind})")
            if kind in _BEGINS and over:
                self._fail(f"not over: step {step} of run {number} begins after the end of the run ({kind})")
            paused, over = _PAUSES.get(kind, paused), _ENDS.get(kind, over)

    def _check_budget(self, run_id: str, flow: str, status: str, code: str | None) -> None:
        number = self._rules.planned(run_id).number
        accounts = self._accounts(flow, run_id if flow == "spent" else None)
        if any(used > BUDGETS[flow] for used in accounts):
            self._fail(f"overdrawn: {accounts} tokens of {BUDGETS[flow]} are used by run {number} ({flow})")
        if flow == "spent" and status == "completed":
            self._fail(f"not stopped: run {number} made all its calls with a budget of {RUN_TOKENS}")
        if code == "budget_exceeded" and max(accounts, default=0) < BUDGETS[flow]:
            self._fail(f"stopped early: run {number} ({flow}) had used {accounts} of {BUDGETS[flow]}")

    def _check_deadline(self, run_id: str, seconds: float) -> None:
        row = self._rules.row(
            "SELECT status, error_code, created_at, finished_at, deadline_at FROM flow_runs WHERE id = ?", run_id
        )
        if row is None:
            return
        status, code, created, finished, deadline = row
        number, paused = self._rules.planned(run_id).number, self._paused(run_id)
        if deadline != created + round(seconds * 1_000_000) + paused:
            self._fail(f"deadline not moved: that of run {number}, paused for {paused / 1e6:.1f} s")
        if code == "deadline_exceeded" and finished < deadline:
            self._fail(f"ended early: run {number} {(deadline - finished) / 1e6:.1f} s before its deadline")
        latest = max(deadline, self._calm_at) + LATE_SECONDS * 1_000_000
        if finished > latest:
            late = (finished - deadline) / 1e6
            self._fail(f"ended late: run {number} is {status} ({code}), {late:.1f} s after its deadline")

    def _paused(self, run_id: str) -> int:
        """Microseconds for which a run was paused before it continued."""
        paused, since = 0, None
        for kind, at in self._rules.rows(
            "SELECT kind, at FROM flow_run_events WHERE flow_run_id = ? AND kind IN ('run_paused', 'run_continued')"
            " ORDER BY seq",
            run_id,
        ):
            if kind == "run_paused":
                since = at
            elif since is not None:
                paused, since = paused + max(0, at - since), None
        return paused

    @property
    def _calm_at(self) -> float:
        """From when on nothing goes wrong any more."""
        plan = self._rules.plan
        ends = [fault.at + fault.seconds for fault in plan.faults]
        calm = max(ends) + MARGIN_LEASES * plan.lease_seconds if ends else 0.0
        return (EPOCH_SECONDS + calm) * 1_000_000
