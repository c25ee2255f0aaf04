"""The second factor, as a user sets it up, signs in with it, and is made to have one."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headgate.features.accounts.second_factor import totp
from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.closed import add_member, sign_in, start_closed_studio
from tests.e2e.support.studio import Studio

BO, CY, DI = "bo@example.org", "cy@example.org", "di@example.org"
pytestmark = [
    pytest.mark.skipif("HEADGATE_E2E_URL" in os.environ, reason="needs a server of its own"),
    pytest.mark.xdist_group("second factor"),  # one server for all of them
]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with start_closed_studio(tmp_path_factory.mktemp("closed")) as found:
        yield found


@pytest.fixture
def page(browser: Browser, closed: Studio, console: Console) -> Iterator[Page]:
    for status in ("401", "403", "409"):
        console.allow(status)  # the browser's own line about a refused request
    with open_page(browser, closed.url, console) as found:
        yield found
    console.check()


def picture(page: Page, name: str) -> None:
    """A picture for whoever looks, where a folder for them is named."""
    if folder := os.environ.get("HEADGATE_E2E_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def set_up(page: Page) -> str:
    """From the QR code to the recovery codes. Returns the secret."""
    secret = page.get_by_test_id("totp-secret").inner_text()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    picture(page, "qr")
    page.get_by_label("Code from the app").fill(totp.code_at(secret, int(time.time()) // totp.STEP_SECONDS - 1))
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("list", name="Recovery codes").get_by_role("listitem")).to_have_count(10)
    picture(page, "codes")
    return secret


class TestAccount:
    def test_gets_an_authenticator_app_and_asks_for_its_code_from_then_on(self, page: Page, closed: Studio) -> None:
        add_member(closed, BO, "viewer")
        page.goto("/sign-in?next=/settings/account")
        sign_in(page, BO)
        expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
        picture(page, "account")
        page.get_by_role("button", name="Set up", exact=True).click()
        page.get_by_role("button", name="Set up an authenticator app").click()
        secret = set_up(page)
        check_accessible(page)
        page.get_by_role("button", name="I have saved them").click()
        expect(page.get_by_text("10 recovery codes left")).to_be_visible()
        picture(page, "account-on")
        page.get_by_role("button", name="Sign out").click()
        sign_in(page, BO)
        expect(page.get_by_text("Enter the code from your authenticator app.")).to_be_visible()
        picture(page, "sign-in-code")
        page.get_by_label("Code").fill("000000")
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("The code is wrong")
        page.get_by_label("Code").fill(totp.code_at(secret, int(time.time()) // totp.STEP_SECONDS))
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()


class TestPasskey:
    def test_is_added_and_signs_in_without_a_password(self, page: Page, closed: Studio) -> None:
        add_member(closed, DI, "viewer")
        devices = page.context.new_cdp_session(page)
        devices.send("WebAuthn.enable")
        device = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        device |= {"isUserVerified": True, "automaticPresenceSimulation": True}
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": device})
        here = closed.url.replace("127.0.0.1", "localhost")  # no passkey is bound to a number
        page.goto(f"{here}/sign-in?next=/settings/account")
        sign_in(page, DI)
        page.get_by_role("button", name="Add a passkey").click()
        page.get_by_label("Name").fill("My laptop")
        page.get_by_role("dialog").get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("list", name="Recovery codes").get_by_role("listitem")).to_have_count(10)
        page.get_by_role("button", name="I have saved them").click()
        expect(page.get_by_role("list", name="Passkeys").get_by_text("My laptop")).to_be_visible()
        check_accessible(page)
        picture(page, "passkeys")
        page.get_by_role("button", name="Sign out").click()
        picture(page, "sign-in-passkey")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()
        assert page.evaluate("fetch('/api/v1/me').then(me => me.json())")["signed_in_by"] == "passkey"


class TestPolicy:
    @pytest.fixture
    def closed(self, tmp_path: Path) -> Iterator[Studio]:
        """A server of its own: the policy refuses everybody without a second factor, the admin of other tests too."""
        with start_closed_studio(tmp_path) as studio:
            yield studio

    def test_leads_a_user_without_one_to_setting_it_up(self, page: Page, closed: Studio) -> None:
        add_member(closed, CY, "viewer")
        closed.api.put("/sign-in-policy", json={"second_factor_required": True}).raise_for_status()
        page.goto("/sign-in?next=/settings/account")
        sign_in(page, CY)
        expect(page.get_by_text("Your organisation requires a second factor")).to_be_visible()
        picture(page, "required")
        page.goto("/")  # there is no way around
        expect(page.get_by_role("button", name="Set up an authenticator app")).to_be_visible()
        page.get_by_role("button", name="Set up an authenticator app").click()
        set_up(page)
        page.get_by_role("button", name="I have saved them").click()
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()
