"""A model, a flow or a component from elsewhere gives text that commands the terminal."""

import io

import pytest
from rich.console import Console, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from headgate.entrypoints.cli.harmless import HarmlessConsole

CLIPBOARD = "\x1b]52;c;ZWNobyBwd25lZA==\x1b\\"
EVIL = f"good{CLIPBOARD}\x1b[2J\x9b2J\x08\x07 \u202egood"


def table() -> Table:
    found = Table("a", title=EVIL)
    found.add_row(EVIL)
    return found


class TestHarmlessConsole:
    @pytest.mark.parametrize(
        "shown",
        [EVIL, Text(EVIL), Markdown(f"# {EVIL}\n`{EVIL}`\n"), Panel(EVIL, title=EVIL), Syntax(EVIL, "diff"), table()],
    )
    def test_leaves_nothing_that_commands_the_terminal(self, shown: RenderableType) -> None:
        printed = self.printed(shown)
        assert "good" in printed
        for command in ("\x1b]", "\x1b\\", "\x1b[2J", "\x9b", "\x07", "\x08", "\u202e"):
            assert command not in printed

    def test_keeps_styles_lines_and_tabs(self) -> None:
        assert self.printed(Text("a\nb", style="bold")) == "\x1b[1ma\x1b[0m\n\x1b[1mb\x1b[0m\n"

    def test_lets_what_moves_stay_moving(self) -> None:
        out = io.StringIO()
        console = self.console(out)
        with Live(Text(EVIL), console=console, auto_refresh=False) as live:
            console.print(EVIL)
            live.update(Text("done"), refresh=True)
        assert "\x1b[?25l" in out.getvalue()
        assert "\x1b]" not in out.getvalue()

    def printed(self, shown: RenderableType) -> str:
        out = io.StringIO()
        self.console(out).print(shown)
        return out.getvalue()

    @staticmethod
    def console(out: io.StringIO) -> Console:
        return HarmlessConsole(file=out, force_terminal=True, color_system="standard", highlight=False, width=80)
