"""Components of fault tests: one that counts outside the database, one that never returns, one that makes much."""

import asyncio
import os
import time

from headgate.sdk import Component, Text, field, output

BEGIN, END = "begin", "end"


class Count(Component):
    """Writes a line when it begins and one when it ends: the outside effect that nothing can take back.

    A line is `<run's text> <step> <begin or end> <microseconds> <process>`, appended in one write.
    """

    effect = True

    input: str = field(default="", main=True)
    parts: list[str] = field(default_factory=list, many=True)
    path: str = field(port=False)
    seconds: float = field(default=0.02, port=False)

    @output()
    async def text(self) -> Text:
        self._write(BEGIN)
        await asyncio.sleep(self.seconds)
        self._write(END)
        return self.ctx.input.text

    def _write(self, what: str) -> None:
        line = f"{self.ctx.input.text} {self.ctx.node_id} {what} {time.time_ns() // 1000} {os.getpid()}\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)


class Stuck(Component):
    """Never returns: asleep for ever, or in a thread that nobody can stop."""

    input: str = field(default="", main=True)
    in_thread: bool = field(default=False, port=False)

    @output()
    async def text(self) -> Text:
        if self.in_thread:
            await asyncio.to_thread(time.sleep, 30)
        await asyncio.Event().wait()
        return self.input


class Much(Component):
    """Makes a text of so many bytes, which is kept as an artifact."""

    input: str = field(default="", main=True)
    size: int = field(port=False)

    @output()
    def text(self) -> Text:
        return "x" * self.size


FAULT_STEPS: tuple[type[Component], ...] = (Count, Stuck, Much)
