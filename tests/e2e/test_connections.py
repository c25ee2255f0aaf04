"""Connections: chosen in a gallery, tested, authorized at a real provider, and picked in a step."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio, start_studio
from tests.support.oauth_provider import CLIENT_SECRET, oauth_provider
from tests.support.scripted_server import ScriptedServer, json_reply

SECRET = "token-neverseenagain-4711"
FLOW = """name: Contacts
nodes:
  in: ChatInput
  call: HTTPRequest
    url: /contacts
  out: ChatOutput
edges:
  in.text -> call.body
  call.text -> out.input
"""
pytestmark = pytest.mark.xdist_group("connections")  # one server for all of them


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server that lets flows reach this machine."""
    folder = tmp_path_factory.mktemp("near")
    with start_studio(folder, HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS='["127.0.0.0/8"]') as studio:
        yield studio


@pytest.fixture
def page(browser: Browser, near: Studio, console: Console) -> Iterator[Page]:
    """A window on it."""
    with open_page(browser, near.url, console) as page:
        yield page
    console.check()


def picture(page: Page, name: str) -> None:
    """Keep a picture where somebody asks for one."""
    folder = os.environ.get("HEADGATE_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


class TestSettings:
    def test_a_token_is_added_tested_and_never_shown_again(self, page: Page) -> None:
        with ScriptedServer().script(json_reply({"user": "ann"})) as server:
            page.goto("/settings/connections")
            page.get_by_role("button", name="New connection").first.click()
            gallery = page.get_by_role("dialog")
            expect(gallery.get_by_role("button", name="SMTP (send mail)")).to_be_visible()
            picture(page, "gallery")
            check_accessible(page)
            gallery.get_by_role("searchbox").fill("github")
            expect(gallery.get_by_role("button", name="SMTP (send mail)")).to_be_hidden()
            gallery.get_by_role("button", name="Bearer token").click()
            form = page.get_by_role("dialog")
            form.get_by_label("Name", exact=False).first.fill("github")
            form.get_by_label("Address").fill(server.origin)
            form.get_by_label("Token").fill(SECRET)
            picture(page, "form")
            form.get_by_role("button", name="Add", exact=True).click()
            row = page.get_by_role("list", name="Connections").get_by_role("listitem").filter(has_text="github")
            expect(row.get_by_text("Not tested")).to_be_visible()
            row.get_by_role("button", name="Test").click()
            expect(row.get_by_text("Ready", exact=True)).to_be_visible()
            picture(page, "row")
            check_accessible(page)
            assert SECRET not in page.content()

    def test_a_user_signs_in_at_the_provider(self, page: Page) -> None:
        with oauth_provider() as provider:
            page.goto("/settings/connections")
            page.get_by_role("button", name="New connection").first.click()
            page.get_by_role("dialog").get_by_role("button", name="OAuth 2: sign in").click()
            form = page.get_by_role("dialog")
            form.get_by_label("Name", exact=False).first.fill("calendar")
            form.get_by_label("Address").fill(provider.fields["url"])
            form.get_by_label("Authorization URL").fill(provider.fields["authorization_url"])
            form.get_by_label("Token URL").fill(provider.fields["token_url"])
            form.get_by_label("Client ID").fill(provider.fields["client_id"])
            form.get_by_label("Client secret").fill(CLIENT_SECRET)
            form.get_by_role("button", name="Add and sign in").click()
            expect(page.get_by_text("“calendar” is authorized.")).to_be_visible()
            assert "code=" not in page.url
            row = page.get_by_role("list", name="Connections").get_by_role("listitem").filter(has_text="calendar")
            expect(row.get_by_text("Ready", exact=True)).to_be_visible()
            picture(page, "authorized")
            row.get_by_role("button", name="Delete calendar").click()
            page.get_by_role("alertdialog").get_by_role("button", name="Delete", exact=True).click()
            expect(row).to_be_hidden()


class TestPicker:
    def test_a_step_names_a_connection_that_is_added_beside_the_field(self, page: Page, near: Studio) -> None:
        flow = near.flow(FLOW)
        page.goto(f"/flows/{flow}")
        page.get_by_test_id("rf__node-call").click()
        field = page.get_by_role("group", name="Connection").or_(page.get_by_label("Connection", exact=True)).first
        expect(field).to_be_visible()
        page.get_by_role("button", name="New connection").click()
        page.get_by_role("dialog").get_by_role("button", name="Basic authentication").click()
        form = page.get_by_role("dialog")
        form.get_by_label("Name", exact=False).first.fill("shop")
        form.get_by_label("Address").fill("https://shop.example.org")
        form.get_by_label("User").fill("ann")
        form.get_by_label("Password").fill(SECRET)
        form.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        picture(page, "picker")
        page.goto("/settings/connections")
        row = page.get_by_role("list", name="Connections").get_by_role("listitem").filter(has_text="shop")
        row.get_by_role("button", name="Flows").click()
        expect(row.get_by_role("link", name="Contacts")).to_be_visible()
        picture(page, "uses")


class TestLooks:
    @pytest.mark.parametrize(("dark", "narrow"), [(True, False), (False, True)])
    def test_fits_dark_and_narrow_windows_in_swedish(
        self, browser: Browser, near: Studio, console: Console, dark: bool, narrow: bool
    ) -> None:
        name = "lager-smalt" if narrow else "lager-morkt"
        fields = {"url": "https://s3.example.org", "bucket": "lager", "access_key": "AKIA"}
        near.post("/connections", {"name": name, "kind": "s3", "fields": fields, "secrets": {"secret_key": SECRET}})
        with open_page(browser, near.url, console, dark=dark, narrow=narrow, locale="sv-SE") as page:
            page.goto("/settings/connections")
            expect(page.get_by_text(name)).to_be_visible()
            expect(page.get_by_role("button", name="Ny anslutning").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            picture(page, name)
        console.check()
