"""Sessions of the development agent on a place in memory, with a model that works as told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import SecretStr

from headgate.agents.codev.ports import Reasoning
from headgate.agents.codev.schemas import Resume, SessionResponse, SessionStart
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.event_log import LiveEvents
from headgate.agents.codev.sessions.notices import Notices
from headgate.agents.codev.sessions.places import OnePost, Place, Surroundings
from headgate.agents.codev.sessions.runner import KIND, RETRY_SECONDS, Runner
from headgate.agents.codev.sessions.service import STARTS, Sessions
from headgate.agents.codev.tables import SessionRow
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.accounts.throttle import limits_of
from headgate.features.runs.evidence.service import Notary
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePatterns, FakePlace, FakeTestSets
from tests.support.codev_script import ScriptedReasoning, calls, case, plan_of, scripted
from tests.support.jobs import open_jobs
from tests.support.keys import GivenKeys
from tests.support.patience import PATIENCE_SECONDS
from tests.support.secret_reads import NotedReads

SETS_HELLO = (calls("set_answer", answer="hello"), "It is written.")
MAKES_HELLO = (calls("make_flow", name="Greeter", answer="hello"), "It is written.")


@dataclass(slots=True)
class MemoryDomain:
    """A domain whose only place is in memory. Keeps who opened it."""

    place: FakePlace
    name: str = "memory"
    opened: list[tuple[Principal, str, str]] = field(default_factory=list)

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> FakePlace:
        self.opened.append((principal, space_id, instance_id))
        return self.place


@dataclass(slots=True)
class OneModel:
    """Every session has the same model, or the error that stands instead."""

    reasoning: Reasoning
    failing: HeadgateError | None = None
    keys: GivenKeys = field(default_factory=GivenKeys)

    @property
    def keys_of(self) -> Callable[[Principal, str], GivenKeys]:
        return lambda _principal, _session_id: self.keys

    async def choose(self, principal: Principal, name: str | None = None, session_id: str = "") -> Reasoning:
        assert principal.tenant_id
        if self.failing is not None:
            raise self.failing
        return self.reasoning

    async def default(self, principal: Principal) -> str:
        assert principal.tenant_id
        return "" if self.failing is not None else self.reasoning.model_id


@dataclass(slots=True)
class Posts:
    """A web that keeps what it is sent, and answers what it is told to."""

    answers: list[int | HeadgateError] = field(default_factory=list)
    sent: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    refused: HeadgateError | None = None
    asked: asyncio.Event | None = None

    def hang(self) -> asyncio.Event:
        """Answer nothing from now on; the event is set when something is asked."""
        self.asked = asyncio.Event()
        return self.asked

    async def check(self, url: str) -> None:
        assert url
        if self.refused is not None:
            raise self.refused

    async def post_once(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float = 30.0
    ) -> int:
        assert timeout_seconds <= 30
        self.sent.append((url, dict(headers), body))
        if self.asked is not None:
            self.asked.set()
            await asyncio.Event().wait()
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, HeadgateError):
            raise answer
        return answer

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was sent, read."""
        return [orjson.loads(body) for _, _, body in self.sent]


@dataclass(slots=True)
class Bench:
    """One process that works on sessions."""

    sessions: Sessions
    place: FakePlace
    model: OneModel
    domain: MemoryDomain
    posts: Posts
    patterns: FakePatterns

    @property
    def runner(self) -> Runner:
        return self.sessions.runner

    def works_on(self, session_id: str) -> bool:
        """Whether this process works on a session, or somebody here has it to themselves."""
        return self.runner.jobs.owns(KIND, session_id)

    async def die(self) -> None:
        """End as by a kill: the lock file is free, nothing is renewed or released."""
        jobs = self.runner.jobs
        for task in jobs._upkeep:
            task.cancel()
        await asyncio.gather(*jobs._upkeep, return_exceptions=True)
        jobs.leases.worker.close()

    async def start(self, who: Principal = LOCAL, /, **wanted: Any) -> SessionResponse:
        """Start, and wait until it rests."""
        given = {"requirement": "A flow that greets.", "domain": "memory"} | wanted
        begun = await self.sessions.start(who, SessionStart(**given), address=None)
        return await self.rested(begun.thread_id, who)

    async def rested(self, session_id: str, who: Principal = LOCAL) -> SessionResponse:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.sessions.wait(who, session_id)

    async def answer(self, waiting: SessionResponse, who: Principal = LOCAL, /, **given: Any) -> SessionResponse:
        """Answer what it waits for, and wait until it rests again."""
        assert waiting.interrupt is not None, waiting
        response = {"type": waiting.interrupt.type} | given
        await self.sessions.resume(who, waiting.thread_id, Resume(interrupt_id=waiting.interrupt.id, response=response))
        return await self.rested(waiting.thread_id, who)

    async def finished(self, **wanted: Any) -> SessionResponse:
        """A session that is approved and accepted."""
        plan = await self.start(**wanted)
        return await self.answer(await self.answer(plan, approved=True), accepted=True)


@asynccontextmanager
async def open_bench(
    settings: Settings,
    database: Database,
    place: FakePlace,
    model: ScriptedReasoning | None = None,
    *,
    scans: bool = True,
    retry_seconds: float = RETRY_SECONDS,
    pauses: Sequence[float] = (0, 0, 0),
    secret_of: Callable[[SessionRow, str], Any] | None = None,
    http: OnePost | None = None,
) -> AsyncIterator[Bench]:
    """A process that works on whatever is due, where it `scans`, until it is closed."""
    live, posts, domain, patterns = LiveEvents(), Posts(), MemoryDomain(place), FakePatterns()
    chosen = OneModel(model or scripted(patch=SETS_HELLO))

    async def no_secret(*_about: object) -> SecretStr | None:
        return None

    around = Surroundings(
        reasoning=chosen,
        patterns=lambda *_about: patterns,
        http=http or posts,
        secret_of=secret_of or no_secret,
        places={"memory": Place(domain, "Memory", test_sets=lambda _principal: FakeTestSets())},
    )
    checkpoints = Checkpoints(settings, database)
    limits = limits_of(settings, {STARTS: settings.codev.sessions_per_minute})
    try:
        async with open_jobs(database, settings.data_dir, scans=scans) as jobs:
            notices = Notices(database, around, live, jobs, page="https://studio.example", pauses=pauses)
            runner = Runner(
                settings,
                database,
                SecretBox(new_ring(settings)),
                around,
                checkpoints,
                live,
                jobs,
                notices,
                retry_seconds,
            )
            notary = Notary(runner.box, EvidenceSigner(new_ring(settings)), lambda _: NotedReads())
            sessions = Sessions(settings, database, runner, limits, notary)
            yield Bench(sessions, place, chosen, domain, posts, patterns)
    finally:
        await checkpoints.close()
        await limits.close()


__all__ = ["MAKES_HELLO", "SETS_HELLO", "Bench", "Posts", "calls", "case", "open_bench", "plan_of", "scripted"]
