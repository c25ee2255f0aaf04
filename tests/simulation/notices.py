"""Notices of approvals: the real jobs that send them, their receiver, and what must hold of both."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, cast

from headgate.features.jobs.leases import Leases
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.runs.approvals.notices import NoticeSender
from headgate.features.runs.approvals.posting import Poster
from headgate.features.runs.deliveries.attempt import Sender
from headgate.features.runs.step_services import Services
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import UpstreamFailed
from tests.simulation.answers import Answers
from tests.simulation.faults import PROCESS_FAULTS
from tests.simulation.flows import ASSIGNEES, NOTICES
from tests.simulation.machine import EPOCH_SECONDS
from tests.simulation.rules import MARGIN_LEASES, Rules
from tests.simulation.server import Server
from tests.simulation.sessions import LOCK_SECONDS
from tests.support.engine import PlainSealer

POLL_SECONDS = 2.0
LATE_SECONDS = 30.0
"""How long a notice that is due may not have been sent, when nothing goes wrong."""
PATIENCE_SECONDS = 40.0
"""A disk that is full, or a database that is locked, for less than this makes no process send a notice again."""
_PROCESSES_AND_CLOCKS = PROCESS_FAULTS | {"clock"}


@dataclass(eq=False)
class Sending:
    """A notice on its way to the receiver."""

    server: Server
    begun: float
    failed: bool = False
    """Whether its sender knows that it was not received."""


class Receiver:
    """The web server that notices are sent to.

    Args:
        random: Draws how long it takes and what fails.
        rules: The rules of every plan.
        note: Writes a line of the trace.
    """

    def __init__(self, random: Random, rules: Rules, note: Callable[..., None]) -> None:
        self._random = random
        self._rules = rules
        self._note = note
        self.sendings: dict[str, list[Sending]] = defaultdict(list)
        """Key of a notice to the times it was sent."""

    async def receive(self, server: Server, key: str) -> int:
        """Receive a notice; the answer may be a failure, and the connection may break before and after."""
        self._check_again(server, key)
        sending = Sending(server, self._rules.now)
        self.sendings[key].append(sending)
        fate, seconds = self._random.random(), self._random.choice((0.05, 1.0, 4.0)) * self._random.random()
        self._note(f"notice {sorted(self.sendings).index(key)} is sent", server.process)
        await asyncio.sleep(seconds)
        sending.failed = fate < 0.2
        if fate < 0.1:
            raise UpstreamFailed("The connection broke.")
        return 503 if sending.failed else 204

    def _check_again(self, server: Server, key: str) -> None:
        """A notice is sent again only where the first time failed, or its sender could not know that it did not."""
        for earlier in self.sendings[key]:
            if not earlier.failed and not self.is_unknown(earlier):
                names = f"{earlier.server.process.name} at {earlier.begun:.3f} and {server.process.name}"
                self._rules.fail(f"notified again: {names} sent the same notice")

    def is_unknown(self, sending: Sending) -> bool:
        """Whether the sender died, was stopped or had a wrong clock, or the database was away for long."""
        number, margin, away = sending.server.number, MARGIN_LEASES * self._rules.plan.lease_seconds, 0.0
        if not sending.server.process.alive:
            return True
        for fault in self._rules.plan.faults:
            if fault.at > self._rules.now or fault.at + fault.seconds + margin < sending.begun:
                continue
            if fault.kind == "clock" or (fault.kind in _PROCESSES_AND_CLOCKS and fault.process == number):
                return True
            away += fault.seconds if fault.kind in {"disk full", "locked"} else 0.0
        # A process on another machine takes a claim once its lease is over.
        return away > (PATIENCE_SECONDS if self._rules.plan.same_machine else 0.0)


@dataclass(frozen=True)
class _Client:
    """The HTTP client of one process (`OnePost`)."""

    receiver: Receiver
    server: Server

    async def post_once(self, url: str, *, headers: dict[str, str], body: bytes, timeout_seconds: float) -> int:
        """Send a request."""
        assert url.startswith("https://receiver.example/")
        assert body
        assert timeout_seconds
        return await self.receiver.receive(self.server, headers["idempotency-key"])


def make_jobs(
    services: Services, server: Server, worker: Worker, lease_seconds: float, receiver: Receiver
) -> JobRunner:
    """The jobs of a process that send notices."""
    jobs = JobRunner(server.database, Leases(worker, lease_seconds), poll_seconds=POLL_SECONDS)
    sender = Sender(_Client(receiver, server), services.secrets, services.files)
    NoticeSender(server.database, cast("SecretBox", PlainSealer()), sender, cast("Poster", None), jobs)
    return jobs


class _Approval(NamedTuple):
    """An approval with notices; times are microseconds in UTC."""

    id: str
    run_id: str
    created_at: int
    escalates_at: int
    closed_at: int
    """When it was decided, or else its run ended."""


class NoticeRules:
    """Looks at the rows of notices.

    Args:
        rules: The rules of every plan.
        receiver: What was sent.
        answers: What users did.
    """

    def __init__(self, rules: Rules, receiver: Receiver, answers: Answers) -> None:
        self._rules = rules
        self._receiver = receiver
        self._answers = answers

    def check_ends(self) -> None:
        """Every approval has its notices, and each was sent when it was due as long as nobody had decided."""
        for row in self._rules.rows(
            "SELECT a.id, a.flow_run_id, a.created_at, a.escalates_at, coalesce(a.decided_at, r.finished_at)"
            " FROM approvals a JOIN flow_runs r ON r.id = a.flow_run_id WHERE r.flow_id = ?",
            self._rules.flow_ids["reminded"],
        ):
            self._check_approval(_Approval(*row))

    def _check_approval(self, approval: "_Approval") -> None:
        number = self._rules.planned(approval.run_id).number
        notices = self._rules.rows(
            "SELECT kind, status, idempotency_key, due_at FROM approval_notices WHERE approval_id = ? ORDER BY number",
            approval.id,
        )
        if [row[0] for row in notices] != [kind for kind, _ in NOTICES]:
            self._rules.fail(f"notice lost: the approval of run {number} has {notices}")
        for (kind, seconds), (_, status, key, due) in zip(NOTICES, notices, strict=True):
            name, sendings = f"{kind} of run {number}", self._receiver.sendings[key]
            self._check_status(name, status, due, sendings)
            if not self._rules.plan.sets_clocks:
                begins = approval.created_at / 1_000_000 - EPOCH_SECONDS + seconds
                self._check_times(
                    f"{name}, {status},", sendings, begins, approval.closed_at / 1_000_000 - EPOCH_SECONDS
                )
        if not self._rules.plan.sets_clocks:
            self._check_escalation(approval, number)

    def _check_status(self, name: str, status: str, due: int | None, sendings: Sequence[Sending]) -> None:
        latest = (EPOCH_SECONDS + self._rules.now - LATE_SECONDS) * 1_000_000
        if status == "failed" or (status == "pending" and (due is None or due < latest)):
            self._rules.fail(f"notice not sent: {name} is {status}, due at {due}")
        if status == "delivered" and all(one.failed for one in sendings):
            self._rules.fail(f"notice invented: {name} is delivered")

    def _check_times(self, name: str, sendings: Sequence[Sending], begins: float, ends: float) -> None:
        """A notice is sent between its due time and the end of the approval, all in seconds of the simulation."""
        if any(one.begun < begins for one in sendings):
            self._rules.fail(f"notified early: {name} was due at {begins:.3f}")
        if not sendings and ends - max(begins, self._calm_from()) > LATE_SECONDS:
            self._rules.fail(f"notice not sent: {name} was due for {ends - begins:.1f} s")
        for one in sendings:
            late = one.begun - ends > 2 * LOCK_SECONDS + 1
            if late and not self._receiver.is_unknown(one) and not self._rules.was_disturbed(one.server):
                self._rules.fail(f"notified late: {name} was sent {one.begun - ends:.1f} s after the decision")

    def _calm_from(self) -> float:
        """From when on the claim of every process that was disturbed is over."""
        ends = [fault.at + fault.seconds for fault in self._rules.plan.faults]
        return max(ends) + MARGIN_LEASES * self._rules.plan.lease_seconds if ends else 0.0

    def _check_escalation(self, approval: "_Approval", number: int) -> None:
        decided = self._rules.rows(
            "SELECT user_id, decided_at FROM approval_decisions WHERE approval_id = ?", approval.id
        )
        if early := [row for row in decided if row[0] not in ASSIGNEES and row[1] < approval.escalates_at]:
            self._rules.fail(f"not assigned: {early[0][0]} decided the approval of run {number} before its escalation")
        for refused_id, user, sent_at in self._answers.refused:
            own = refused_id == approval.id
            if own and (user in ASSIGNEES or sent_at >= approval.escalates_at / 1_000_000 - EPOCH_SECONDS):
                self._rules.fail(f"not escalated: {user} was refused for run {number}, {sent_at:.1f} s after the start")
