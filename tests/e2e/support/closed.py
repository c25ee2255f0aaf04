"""A server on which everybody signs in, and its first admin."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from playwright.sync_api import Page

from tests.e2e.support.studio import Studio, start_studio

ADMIN, PASSWORD = "anna@example.org", "correct horse battery"


@contextmanager
def start_closed_studio(folder: Path) -> Iterator[Studio]:
    """Start it with one admin, who has set a password."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADGATE_")}
    environment = {"HEADGATE_SERVER__AUTO_LOGIN": "false", "HEADGATE_RATE_LIMITS__SIGN_IN_PER_MINUTE": "60"}
    subprocess.run(
        [sys.executable, "-m", "headgate", "users", "create", ADMIN, "--name", "Anna", "--admin", "--password-stdin"],
        input=f"{PASSWORD}\n".encode(),
        env={**clean, **environment, "HEADGATE_DATA_DIR": str(folder)},
        check=True,
        capture_output=True,
    )
    with start_studio(folder, **environment) as found:
        yield found


def add_member(studio: Studio, email: str, role: str) -> str:
    """Somebody with a password who has this role in the admin's space, which has a published chat; the chat's id."""
    api = studio.api
    me = api.post("/sign-in", json={"email": ADMIN, "password": PASSWORD}).raise_for_status().json()
    api.headers["X-CSRF-Token"] = me["csrf_token"]
    invited = studio.post("/users", {"email": email})
    token = invited["link"]["url"].rpartition("token=")[2]
    used = {"token": token, "password": PASSWORD}  # by somebody else than the admin who goes on here
    httpx2.post(f"{api.base_url}password-links/use", json=used).raise_for_status()
    space = studio.get("/me")["space"]["id"]
    api.put(f"/spaces/{space}/members/{invited['id']}", json={"role": role}).raise_for_status()
    flow: str = studio.post("/flows", {"definition": studio.get("/templates/echo")["definition"]})["id"]
    studio.post(f"/flows/{flow}/publish", {})
    return flow


def sign_in(page: Page, email: str = ADMIN, password: str = PASSWORD) -> None:
    """Fill in the sign-in page and send it."""
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
