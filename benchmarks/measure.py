"""What every benchmark shares: options, percentiles, processor time, and a report as table, JSON and picture."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import psutil
from rich.console import Console
from rich.table import Table

from headgate.foundation.log import configure
from headgate.foundation.settings import LogSettings

__all__ = ["Options", "Report", "arguments", "cpu_seconds", "median", "percentile"]
PICTURES = Path(".benchmarks")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    quick: bool
    json: Path | None
    smoke: bool = False
    """Whether it is only to be seen that the program works: the same path with the smallest sizes, no figures."""

    def choose(self, full: T, quick: T, smoke: T) -> T:
        """A size, for what was asked."""
        return smoke if self.smoke else quick if self.quick else full


def arguments(description: str) -> Options:
    """Read `--quick`, `--smoke` and `--json FILE`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="under 40 seconds, fewer repeats")
    parser.add_argument("--smoke", action="store_true", help="the smallest sizes: whether the program works at all")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    found = parser.parse_args()
    os.environ["HEADGATE_LOG__LEVEL"] = "warning"  # of the processes that are started: a line for each run is no figure
    configure(LogSettings(level="warning"))
    return Options(quick=found.quick, json=found.json, smoke=found.smoke)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu_seconds(*pids: int, alone: bool = False) -> float:
    """Processor seconds that processes have used, their children included unless `alone`."""
    total = 0.0
    for pid in pids:
        process = psutil.Process(pid)
        for one in (process, *(() if alone else process.children(recursive=True))):
            try:
                times = one.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
    return total


@dataclass(slots=True)
class Report:
    """Rows that are printed as a table, written as JSON and drawn as bars."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)
    bars: list[tuple[str, float]] = field(default_factory=list)

    def add(self, *cells: str, values: dict[str, Any], bar: tuple[str, float] | None = None) -> None:
        """A row, which is printed at once, because the next may take an hour; `bar` is its place in the picture."""
        print(f"{self.title}:", " | ".join(cells), file=sys.stderr, flush=True)
        self.rows.append(cells)
        self.values.append({"row": cells[0], **values})
        if bar is not None:
            self.bars.append(bar)

    def finish(self, options: Options, *, picture: str, axis: str = "share of the aim (1.0 or less is good)") -> None:
        """Print the table, draw the picture, write the JSON."""
        table = Table(title=self.title, title_justify="left", header_style="bold")
        for column in self.columns:
            table.add_column(column)
        for row in self.rows:
            table.add_row(*row)
        Console(width=120).print(table)
        if not options.smoke:  # importing matplotlib takes most of a second
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.draw(PICTURES / picture, axis)
        if options.json is not None:
            machine = {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()}
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(
                json.dumps({"title": self.title, "machine": machine, "rows": self.values}, indent=2)
            )

    def draw(self, path: Path, axis: str = "") -> None:
        """Draw the bars, where there are any."""
        if not self.bars:
            return
        pyplot = _pyplot()
        figure, axes = pyplot.subplots(figsize=(9, 0.6 + 0.42 * len(self.bars)))
        labels = [label for label, _ in self.bars][::-1]
        heights = [height for _, height in self.bars][::-1]
        colours = ["#2f7d5b" if height <= 1 else "#c2622d" for height in heights]
        drawn = axes.barh(labels, heights, color=colours)
        axes.bar_label(drawn, fmt="%.2f", padding=3)
        axes.axvline(1.0, color="#555", linewidth=1, linestyle="--")
        axes.set_xlabel(axis)
        axes.set_title(self.title, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        figure.tight_layout()
        figure.savefig(path, dpi=120)
        pyplot.close(figure)
        print(f"Picture: {path}")


def _pyplot() -> Any:
    """Matplotlib, which is imported where a picture is drawn."""
    import_module("matplotlib").use("Agg")
    return import_module("matplotlib.pyplot")
