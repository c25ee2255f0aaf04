"""A server on which everybody signs in, and its first admin."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

from tests.e2e.support.studio import Studio, start_studio

ADMIN, PASSWORD = "anna@example.org", "correct horse battery"


@contextmanager
def start_closed_studio(folder: Path) -> Iterator[Studio]:
    """Start it with one admin, who has set a password."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADGATE_")}
    environment = {"HEADGATE_SERVER__AUTO_LOGIN": "false", "HEADGATE_RATE_LIMITS__SIGN_IN_PER_MINUTE": "10"}
    subprocess.run(
        [sys.executable, "-m", "headgate", "users", "create", ADMIN, "--name", "Anna", "--admin", "--password-stdin"],
        input=f"{PASSWORD}\n".encode(),
        env={**clean, **environment, "HEADGATE_DATA_DIR": str(folder)},
        check=True,
        capture_output=True,
    )
    with start_studio(folder, **environment) as found:
        yield found


def sign_in(page: Page, email: str = ADMIN, password: str = PASSWORD) -> None:
    """Fill in the sign-in page and send it."""
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
