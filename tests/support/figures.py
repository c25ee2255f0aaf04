"""Figures that tests print at the end of the run, from whichever process they ran in.

A test records them with `record_property("figures", "200 runs, 31 deaths")`; the reports carry them to the terminal.
"""

import pytest
from _pytest.terminal import TerminalReporter


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """One line for each recorded figure."""
    lines: list[str] = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "teardown":
                name = report.nodeid.rpartition("/")[2]
                lines += [f"{name}: {value}" for key, value in report.user_properties if key == "figures"]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.line(line)
