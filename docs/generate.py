"""Writes the pages of `docs/` that come from the code; `make docs` calls it, a test says when it was forgotten."""

from collections.abc import Callable
from pathlib import Path

from docs.pictures import architecture_picture, attempt_picture, run_picture, step_picture

from headgate.agents.assistant.offline.page import requests_page
from headgate.components.document import components_page
from headgate.entrypoints.cli.document import command_line_page
from headgate.entrypoints.http.permissions_page import permissions_page
from headgate.entrypoints.reach_page import reach_page
from headgate.foundation.guarded_http.page import outgoing_page
from headgate.foundation.settings.page import settings_page

FOLDER = Path(__file__).parent
PAGES: dict[str, Callable[[], str]] = {
    "images/architecture.svg": architecture_picture,
    "images/states-attempt.svg": attempt_picture,
    "images/states-run.svg": run_picture,
    "images/states-step.svg": step_picture,
    "reference/command-line.md": command_line_page,
    "reference/components.md": components_page,
    "reference/offline-requests.md": requests_page,
    "reference/outgoing.md": outgoing_page,
    "reference/permissions.md": permissions_page,
    "reference/reach.md": reach_page,
    "reference/settings.md": settings_page,
}
"""Path below `docs/` to the function that writes the page."""


def main() -> None:
    """Write every page."""
    for name, write in PAGES.items():
        (FOLDER / name).write_text(write(), encoding="utf-8")


if __name__ == "__main__":
    main()
