"""Tables of a database: browsed in Settings and next to the SQL of a step; members of a described response."""

import sqlite3
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio, start_studio
from tests.e2e.test_connections import picture
from tests.support.api_documents import ISSUES, as_json

FLOW = """name: Orders
nodes:
  read: SqlQuery
    database: shop
    sql: "SELECT * FROM "
  call: ApiCall
    connection: tracker
    operation: GET /projects/{project}/issues
    arguments: {"project": "web"}
  out: ChatOutput
  rows: ChatOutput
edges:
  read.table -> rows.input
  call.data -> out.input
"""
pytestmark = pytest.mark.xdist_group("databases")  # one server for all of them


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server with a database in a folder that the operator opened, and a described API."""
    folder = tmp_path_factory.mktemp("near")
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE customer (id integer PRIMARY KEY, email text NOT NULL)")
        database.execute('CREATE TABLE "order" (id integer PRIMARY KEY, customer integer REFERENCES customer(id))')
    folders = f'{{"data": {{"path": "{folder}"}}}}'
    with start_studio(folder, HEADGATE_CONNECTIONS__FOLDERS=folders) as studio:
        file = {"dialect": "sqlite", "folder": "data", "file": "shop.db"}
        studio.post("/connections", {"name": "shop", "kind": "sql_file", "fields": file, "secrets": {}})
        key = {"url": "https://api.tracker.example"}
        studio.post("/connections", {"name": "tracker", "kind": "bearer", "fields": key, "secrets": {"token": "t"}})
        content = {"content": as_json(ISSUES).decode()}
        studio.api.put("/connections/tracker/api", json=content).raise_for_status()
        yield studio


@pytest.mark.parametrize(("small", "locale"), [(False, "en"), (True, "sv-SE")])
def test_tables_are_searched_in_settings(
    browser: Browser, near: Studio, console: Console, small: bool, locale: str
) -> None:
    with open_page(browser, near.url, console, dark=small, narrow=small, locale=locale) as page:
        page.goto("/settings/connections")
        page.get_by_role("button", name="Tabeller" if locale == "sv-SE" else "Tables").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("→ customer.id")).to_be_visible()
        check_accessible(page, within="[role=dialog]")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        picture(page, f"tables-{locale}")
        dialog.get_by_role("searchbox").fill("email")
        expect(dialog.get_by_text("→ customer.id")).to_be_hidden()
        expect(dialog.get_by_text("email", exact=True)).to_be_visible()
    console.check()


def test_a_name_is_put_into_the_sql(browser: Browser, near: Studio, console: Console) -> None:
    flow = near.flow(FLOW)
    with open_page(browser, near.url, console) as page:
        page.goto(f"/flows/{flow}")
        page.get_by_test_id("rf__node-read").click()
        page.get_by_role("button", name="Tables and columns").click()
        editor = page.get_by_role("textbox", name="SQL")
        editor.click()
        page.keyboard.press("End")
        page.get_by_role("button", name="Insert order").click()
        expect(editor).to_contain_text('SELECT * FROM "order"')
        picture(page, "sql-field")
    console.check()


def test_members_of_a_described_response_are_shown_before_a_run(
    browser: Browser, near: Studio, console: Console
) -> None:
    flow = near.flow(FLOW)
    with open_page(browser, near.url, console) as page:
        page.goto(f"/flows/{flow}")
        page.get_by_test_id("rf__node-out").click()
        expected = page.get_by_role("region", name="Expected data")
        expect(expected.get_by_role("button", name="Insert call.output.items.0.title")).to_be_visible()
        picture(page, "expected-data")
    console.check()
