"""Signing in, on a server where everybody does."""

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.closed import ADMIN, PASSWORD, add_member, sign_in, start_closed_studio
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

REFUSED = "The e-mail address or the password is wrong, or the account is deactivated."
LINK_REFUSED = "This link was already used, has expired or is incomplete. Ask an administrator for a new one."
pytestmark = [
    pytest.mark.skipif("HEADGATE_E2E_URL" in os.environ, reason="needs a server of its own"),
    pytest.mark.xdist_group("sign in"),  # one server for all of them
]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with start_closed_studio(tmp_path_factory.mktemp("closed")) as found:
        yield found


@pytest.fixture
def page(browser: Browser, closed: Studio, console: Console) -> Iterator[Page]:
    console.allow("401")  # the browser's own line about a refused request
    console.allow("404")
    with open_page(browser, closed.url, console) as found:
        yield found
    console.check()


class TestSignIn:
    def test_leads_back_to_where_somebody_wanted_to_be(self, page: Page) -> None:
        page.goto("/settings/shortcuts")
        expect(page).to_have_url(re.compile(r"/sign-in\?next=%2Fsettings%2Fshortcuts$"))
        expect(page.get_by_text("to continue to the page you requested")).to_be_visible()
        sign_in(page)
        expect(page.get_by_role("heading", name="Shortcuts")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/settings/shortcuts$"))

    def test_says_the_same_of_a_wrong_password_and_an_unknown_address(self, page: Page) -> None:
        page.goto("/sign-in")
        for email in (ADMIN, "nobody@example.org"):
            sign_in(page, email, "not the password at all")
            expect(page.get_by_role("alert")).to_have_text(REFUSED)
        sign_in(page, ADMIN, "")
        expect(page.get_by_role("alert")).to_have_text("Fill in both fields.")

    def test_never_leads_to_another_site(self, page: Page, closed: Studio) -> None:
        page.goto("/sign-in?next=//evil.example/x")
        sign_in(page)
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()
        assert page.url == f"{closed.url}/"

    def test_is_asked_again_when_the_session_has_ended(self, page: Page) -> None:
        page.goto("/sign-in?next=/settings/audit")
        sign_in(page)
        expect(page.get_by_role("button", name="Verify")).to_be_visible()
        page.context.clear_cookies()
        page.get_by_role("button", name="Verify").click()
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
        sign_in(page)
        expect(page.get_by_role("button", name="Verify")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/settings/audit$"))

    def test_is_asked_for_while_somebody_edits_and_nothing_is_lost(self, page: Page, closed: Studio) -> None:
        flow = add_member(closed, "edith@example.org", "editor")
        page.goto(f"/sign-in?next=/flows/{flow}")
        sign_in(page)
        expect(page.locator("header").get_by_text("Saved", exact=True)).to_be_visible()
        # Only what is saved meets the end of the session: a list asked for in between leads to signing in by itself.
        ended = {"code": "unauthenticated", "title": "Not signed in", "status": 401, "detail": "Sign in."}
        page.route(f"**/flows/{flow}/draft", lambda route: route.fulfill(status=401, json=ended))
        page.get_by_role("button", name="Echo", exact=True).click()
        page.keyboard.press("Control+a")
        page.keyboard.type("Written while signed out")
        page.keyboard.press("Enter")
        told = page.get_by_role("region", name="You are signed out")
        expect(told).to_be_visible()
        expect(page.get_by_text("This flow was deleted")).to_have_count(0)
        expect(told.get_by_role("link", name="Sign in")).to_have_attribute("href", f"/sign-in?next=%2Fflows%2F{flow}")
        page.context.clear_cookies()
        page.goto(f"/sign-in?next=/flows/{flow}")
        page.unroute_all()
        sign_in(page)
        page.get_by_role("button", name="Restore changes").click()
        expect(page.get_by_role("heading", level=1, name="Written while signed out")).to_be_visible()
        until(lambda: closed.get(f"/flows/{flow}")["name"], "Written while signed out")

    def test_says_what_went_wrong_on_the_other_way_in_words_of_ours_and_in_swedish(self, page: Page) -> None:
        page.goto("/sign-in?error=%3Cb%3Eevil")
        expect(page.get_by_role("alert")).to_contain_text("Single sign-on failed.")
        page.goto("/sign-in?error=sso_cancelled")
        expect(page.get_by_role("alert")).to_have_text("The sign-in was cancelled.")
        page.get_by_role("radio", name="Svenska").click()
        expect(page.get_by_role("heading", name="Välkommen tillbaka")).to_be_visible()

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_is_for_everybody(self, browser: Browser, closed: Studio, console: Console, dark: bool) -> None:
        console.allow("404")
        with open_page(browser, closed.url, console, dark=dark, narrow=dark) as page:
            page.goto("/sign-in")
            expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
            check_accessible(page)
            page.goto("/set-password#token=of-no-link")
            expect(page.get_by_role("alert")).to_have_text(LINK_REFUSED)
            check_accessible(page)


class TestInvited:
    def test_sets_a_password_and_is_in(self, page: Page, browser: Browser, closed: Studio, console: Console) -> None:
        page.goto("/sign-in?next=/settings/members")
        sign_in(page)
        page.get_by_role("button", name="Invite a user").click()
        page.get_by_label("E-mail address").fill("bo@example.org")
        page.get_by_role("dialog").get_by_role("button", name="Invite a user").click()
        link = page.get_by_test_id("one-time-link").inner_text()
        page.get_by_role("button", name="I have saved it").click()
        expect(page.get_by_role("list", name="Users").get_by_text("Invited")).to_be_visible()
        with open_page(browser, closed.url, console) as theirs:
            theirs.goto(link)
            expect(theirs.get_by_text("bo@example.org")).to_be_visible()
            theirs.get_by_label("New password", exact=True).fill(PASSWORD + " 2")
            theirs.get_by_label("Repeat new password").fill(PASSWORD)
            theirs.get_by_role("button", name="Set password and sign in").click()
            expect(theirs.get_by_role("alert")).to_have_text("The passwords do not match.")
            theirs.get_by_label("Repeat new password").fill(PASSWORD + " 2")
            theirs.get_by_role("button", name="Set password and sign in").click()
            expect(theirs.get_by_role("navigation", name="Main")).to_be_visible()
            theirs.goto("/settings/members")
            expect(theirs.get_by_role("heading", name="Members and spaces")).to_be_visible()
            expect(theirs.get_by_role("button", name="Invite a user")).to_have_count(0)
            expect(theirs.get_by_role("link", name="Audit log")).to_have_count(0)


class TestRoles:
    def test_a_viewer_looks_at_a_flow_and_is_offered_nothing_that_is_refused(
        self, browser: Browser, closed: Studio, console: Console
    ) -> None:
        flow = add_member(closed, "vera@example.org", "viewer")
        empty = closed.post("/flows", {"name": "Bare"})["id"]
        console.allow("401")  # before signing in; a 403 would be told
        with open_page(browser, closed.url, console) as page:
            page.goto(f"/sign-in?next=/flows/{flow}")
            sign_in(page, "vera@example.org")
            expect(page.get_by_text("Read only")).to_be_visible()
            bar = page.locator("header")
            expect(bar.get_by_role("button", name="More", exact=True)).to_be_visible()
            for name in ("Run", "Assistant"):
                expect(bar.get_by_role("button", name=name, exact=True)).to_have_count(0)
            page.get_by_role("link", name="Publish").click()
            expect(page.get_by_role("button", name="Publish the draft")).to_be_disabled()
            expect(page.get_by_text("Publishing requires the publisher role")).to_be_visible()
            page.goto(f"/flows/{empty}")
            expect(page.get_by_role("heading", name="This flow is empty")).to_be_visible()
            for section in ("models", "flowise"):
                page.goto(f"/settings/{section}")
                expect(page.get_by_text("An administrator of your organisation can make changes")).to_be_visible()
            page.goto("/settings/variables")  # the space of one's own may have some
            expect(page.get_by_role("button", name="Add a variable").first).to_be_visible()
            page.goto("/")
            page.get_by_role("button", name="More for Echo").first.click()
            expect(page.get_by_role("menuitem", name="Download (JSON)")).to_be_visible()
            for name in ("Rename", "Delete", "Duplicate"):
                expect(page.get_by_role("menuitem", name=name)).to_have_count(0)
        console.check()

    def test_a_runner_runs_what_is_published(self, browser: Browser, closed: Studio, console: Console) -> None:
        flow = add_member(closed, "rolf@example.org", "runner")
        console.allow("401")
        with open_page(browser, closed.url, console) as page:
            page.goto(f"/sign-in?next=/flows/{flow}")
            sign_in(page, "rolf@example.org")
            page.locator("header").get_by_role("button", name="Run", exact=True).click()
            panel = page.get_by_role("complementary", name="Run", exact=True)
            expect(panel.get_by_text("Runs the published version 1.")).to_be_visible()
            panel.get_by_role("textbox", name="Message").fill("Hello there")
            panel.get_by_role("button", name="Send").click()
            expect(panel.get_by_text("Hello there")).to_have_count(2)
        console.check()
