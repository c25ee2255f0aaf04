"""Follows a development session in a terminal and asks its questions."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from headgate.agents.codev.schemas import Resume, ResumeAnswer, SessionResponse
from headgate.entrypoints.cli.codev_answers import ask
from headgate.entrypoints.cli.codev_pages import conclude, exit_code_of, show_how_to_answer, show_interrupt
from headgate.entrypoints.cli.codev_view import SessionView
from headgate.entrypoints.cli.exit_codes import INTERRUPTED
from headgate.entrypoints.cli.output import console, errors, print_json
from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.compose import Parts

_LOOK_SECONDS = 2.0


@dataclass
class SessionWatch:
    """A session in this terminal: shows its events, and asks its questions if a user can answer."""

    parts: Parts
    quiet: bool
    _id: str = field(default="", init=False)

    @property
    def _answerable(self) -> bool:
        return not self.quiet and console.is_terminal and sys.stdin.isatty()

    async def play(self, session: SessionResponse, *, after: int = 0) -> int:
        """Follow it until it is over, or waits without a user to answer. Returns the exit code."""
        self._id = session.thread_id
        if not self.quiet:
            console.print(f"[dim]session {self._id}[/]")
        try:
            session = await self._rest(session, after)
            while session.interrupt is not None and self._answerable:
                show_interrupt(session.interrupt, session.hint)
                answer = await ask(self.parts.codev, self._id, session.interrupt)
                if answer is None:
                    break
                session = await self.send(session, answer)
                session = await self._rest(session, session.last_event)
        except asyncio.CancelledError:
            where = errors if self.quiet else console
            where.print("\n[yellow]Stopped following the session.[/] Continue it:")
            where.print(f"  headgate codev resume {self._id}", soft_wrap=True)
            raise SystemExit(INTERRUPTED) from None  # already shown above; the caller would show it again
        self._conclude(session)
        return exit_code_of(session)

    async def send(self, session: SessionResponse, answer: ResumeAnswer) -> SessionResponse:
        """Answer the session's question."""
        interrupt_id = session.interrupt.id if session.interrupt is not None else None
        return await self.parts.codev.resume(
            acting(), session.thread_id, Resume(interrupt_id=interrupt_id, response=answer)
        )

    def _conclude(self, session: SessionResponse) -> None:
        if self.quiet:
            print_json(session)
        elif session.interrupt is None:
            conclude(session)
        else:
            if not self._answerable:
                show_interrupt(session.interrupt, session.hint)
            show_how_to_answer(session)

    async def _rest(self, session: SessionResponse, after: int) -> SessionResponse:
        if session.status != "in_progress":
            return session
        with SessionView(None if self.quiet else console) as view:
            async with self._worked_on():
                async for _, kind, data in self.parts.codev.follow(acting(), self._id, after):
                    view.show(kind, data)
                return await self.parts.codev.wait(acting(), self._id)

    @asynccontextmanager
    async def _worked_on(self) -> AsyncIterator[None]:
        """Resume the session in this process unless another process runs it."""
        over = asyncio.Event()
        task = asyncio.create_task(self._insist(over))
        try:
            yield
        finally:
            over.set()
            await task

    async def _insist(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self.parts.codev.runner.insist(self._id)
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _LOOK_SECONDS)
