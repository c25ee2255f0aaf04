"""Components of fault tests: one that counts outside the database, one that never returns, one that makes much."""

import asyncio
import os
import random
import time
from pathlib import Path

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
    longest: float = field(default=0.0, port=False)
    """Seconds; where it is more than `seconds`, a step takes a random time between the two."""

    @output()
    async def text(self) -> Text:
        self._write(BEGIN)
        await asyncio.sleep(random.uniform(self.seconds, max(self.seconds, self.longest)))
        self._write(END)
        return self.ctx.input.text

    def _write(self, what: str) -> None:
        line = f"{self.ctx.input.text} {self.ctx.node_id} {what} {time.time_ns() // 1000} {os.getpid()}\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)


class Labels(Component):
    """So many lines, each the run's text with a number: the texts of the runs of a ForEach."""

    input: str = field(default="", main=True)
    many: int = field(port=False)

    @output()
    def text(self) -> Text:
        return "\n".join(f"{self.ctx.input.text}/{number}" for number in range(self.many))


class Longer(Component):
    """The run's text and a mark: the text of the next round."""

    input: str = field(default="", main=True)

    @output()
    def text(self) -> Text:
        return f"{self.ctx.input.text}+"


class Stuck(Component):
    """Never returns: asleep for ever, in a thread that nobody can stop, or at work in a way that stops its process."""

    input: str = field(default="", main=True)
    in_thread: bool = field(default=False, port=False)
    blocking: bool = field(default=False, port=False)
    path: str = field(default="", port=False)
    """A file that gets a line for each time it is begun."""

    @output()
    async def text(self) -> Text:
        if self.path:
            with Path(self.path).open("a") as file:  # noqa: ASYNC230
                file.write(f"{os.getpid()}\n")
        if self.blocking:
            time.sleep(3600)  # noqa: ASYNC251 - what is tested
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


FAULT_STEPS: tuple[type[Component], ...] = (Count, Labels, Longer, Stuck, Much)
