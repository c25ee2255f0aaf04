"""Rich prints text as it is, with every command to the terminal that a model or a stranger wrote into it; not here."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from headgate.entrypoints.cli.printable import printable


class HarmlessConsole(Console):
    """A console whose text does not command the terminal. Styles, and what moves, are Rich's own."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render printed text; everything printed passes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
