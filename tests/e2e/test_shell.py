"""What is around every page: places, commands, shortcuts, language and colours, the flow's header."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

SPEC = "name: {name}\nnodes:\n  text: TextInput\n    text: hello\n"


def arrive(page: Page, address: str) -> None:
    """Go there, and wait until keys are heard."""
    page.goto(address)
    expect(page.get_by_role("button", name=re.compile("^Account: .+"))).to_be_visible()


class TestCommandPalette:
    def test_finds_a_flow_by_a_few_letters_and_opens_it(self, page: Page, studio: Studio) -> None:
        studio.flow(SPEC.format(name="Quarterly zebra report"))
        arrive(page, "/templates")
        page.keyboard.press("Control+k")
        palette = page.get_by_role("dialog", name="Commands")
        expect(palette.get_by_role("combobox")).to_be_focused()
        page.keyboard.type("zebra")
        expect(palette.get_by_role("option", name="Quarterly zebra report").first).to_have_attribute(
            "aria-selected", "true"
        )
        check_accessible(page, within="[role=dialog]")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1, name="Quarterly zebra report")).to_be_visible()
        expect(page).to_have_title("Quarterly zebra report · Headgate")
        expect(palette).not_to_be_visible()

    def test_makes_a_flow_from_wherever_somebody_is(self, page: Page) -> None:
        arrive(page, "/templates")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog", name="Commands").get_by_role("combobox")).to_be_focused()
        page.keyboard.type("new flow")
        expect(page.get_by_role("option", name="New empty flow")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1, name="Untitled flow")).to_be_visible()

    def test_finds_sections_of_the_settings_views_of_the_flow_and_components(self, page: Page, studio: Studio) -> None:
        page.goto(f"/flows/{studio.flow(SPEC.format(name='Findable'))}")
        expect(page.get_by_role("heading", level=1, name="Findable")).to_be_visible()
        palette = page.get_by_role("dialog", name="Commands")
        for words, option, address in (
            ("publ", "Publish", "/publish"),
            ("audit", "Audit log", "/settings/audit"),
            ("variables", "Variables", "/settings/variables"),
            ("api keys", "API keys", "/settings/keys"),
        ):
            page.keyboard.press("Control+k")
            expect(palette.get_by_role("combobox")).to_be_focused()
            page.keyboard.type(words)
            palette.get_by_role("option", name=option, exact=True).click()
            expect(page).to_have_url(re.compile(re.escape(address)))
        page.goto(f"/flows/{studio.flow(SPEC.format(name='Addable'))}")
        expect(page.locator(".react-flow__node")).to_have_count(1)
        page.keyboard.press("Control+k")
        expect(palette.get_by_role("combobox")).to_be_focused()
        expect(palette.get_by_role("option", name="Add Calculator")).to_have_count(0)
        page.keyboard.type("calculator")
        palette.get_by_role("option", name="Add Calculator").click()
        expect(page.locator(".react-flow__node")).to_have_count(2)

    def test_gives_the_focus_back_to_what_had_it(self, page: Page) -> None:
        arrive(page, "/settings/appearance")
        page.get_by_role("link", name="Templates").focus()
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog", name="Commands").get_by_role("combobox")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Templates")).to_be_focused()

    def test_offers_what_the_open_flow_can_do(self, page: Page, studio: Studio) -> None:
        flow = studio.flow(SPEC.format(name="Commanded"))
        page.goto(f"/flows/{flow}")
        expect(page.get_by_role("heading", level=1, name="Commanded")).to_be_visible()
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog", name="Commands").get_by_role("combobox")).to_be_focused()
        page.keyboard.type("flow sett")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Flow settings")
        expect(dialog.get_by_label("Name of the flow")).to_be_focused()
        dialog.get_by_label("Description").fill("Says hello")
        dialog.get_by_label("Run data retention (days)").fill("30")
        dialog.get_by_title("globe").click()
        dialog.get_by_role("button", name="Done").click()
        expect(page.locator("header").get_by_text("Saved", exact=True)).to_be_visible()
        found = studio.get(f"/flows/{flow}")["definition"]
        assert found["description"] == "Says hello"
        settings = found["settings"]
        assert (settings["data_retention_days"], settings["icon"]) == (30, "globe")


class TestShortcuts:
    def test_the_sheet_shows_all_and_finds_one(self, page: Page) -> None:
        arrive(page, "/")
        page.keyboard.press("Shift+?")
        sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(sheet.get_by_text("Find a node")).to_be_visible()
        sheet.get_by_label("Search shortcuts").fill("save")
        expect(sheet.get_by_text("Find a node")).not_to_be_visible()
        expect(sheet.get_by_text("Save now")).to_be_visible()
        check_accessible(page, within="[role=dialog]")
        page.keyboard.press("Escape")
        expect(sheet).not_to_be_visible()

    def test_everything_is_reached_by_keyboard_alone(self, page: Page, studio: Studio) -> None:
        flow = studio.flow(SPEC.format(name="Typed"))
        page.goto(f"/flows/{flow}/steps")
        expect(page.get_by_role("heading", level=1, name="Typed")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Typed")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.type("Retyped")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1, name="Retyped")).to_be_visible()
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog", name="Commands").get_by_role("combobox")).to_be_focused()
        page.keyboard.type("templates")
        page.keyboard.press("Enter")
        expect(page).to_have_title("Templates · Headgate")
        expect(page.locator("main")).to_be_focused()


class TestAccountMenu:
    def test_language_and_colours_change_at_once_and_stay(self, page: Page) -> None:
        arrive(page, "/templates")
        page.get_by_role("button", name=re.compile("^Account")).click()
        page.get_by_role("menuitem", name="Svenska").click()
        expect(page.get_by_role("navigation", name="Huvudmeny").get_by_role("link", name="Mallar")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "sv")
        page.get_by_role("button", name=re.compile("^Konto")).click()
        page.get_by_role("menuitem", name="Mörk").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.reload()
        expect(page.get_by_role("link", name="Mallar")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")


class TestWholeFlow:
    def test_is_exported_duplicated_deleted_and_brought_back(self, page: Page, studio: Studio) -> None:
        flow = studio.flow(SPEC.format(name="Copied"))
        page.goto(f"/flows/{flow}")
        page.get_by_role("button", name="More", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name="Export as text").click()
        assert download.value.suggested_filename == "Copied.flow"
        assert "TextInput" in download.value.path().read_text(encoding="utf-8")
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Duplicate").click()
        expect(page.get_by_role("heading", level=1, name="Copied (copy)")).to_be_visible()
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Delete flow").click()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("heading", level=1, name="Copied (copy)")).to_be_visible()


class TestPages:
    def test_the_design_page_is_for_everybody(self, page: Page) -> None:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="light" if theme == "light" else "dark")
            page.goto("/design")
            expect(page.get_by_role("heading", level=1, name="Design system")).to_be_visible()
            expect(page.get_by_text("0.0", exact=True)).to_have_count(0)
            check_accessible(page)

    def test_a_narrow_screen_has_every_view_and_no_sideways_scroll(
        self, browser: Browser, studio: Studio, console: Console
    ) -> None:
        flow = studio.flow(SPEC.format(name="A flow with a rather long name that does not fit"))
        with open_page(browser, studio.url, console, narrow=True) as page:
            page.goto(f"/flows/{flow}")
            for view in ("Canvas", "Steps", "Overview", "Runs", "Tests", "Triggers", "Publish"):
                expect(page.get_by_role("navigation", name="Views of the flow").get_by_text(view)).to_be_in_viewport()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            check_accessible(page, within="header")
        console.check()

    def test_an_address_that_leads_nowhere_says_so(self, page: Page, console: Console) -> None:
        console.allow("404")
        arrive(page, "/")
        page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
        expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
        page.get_by_role("link", name="Go to your flows").last.click()
        expect(page).to_have_title("Flows · Headgate")
        console.allow("There is no flow")
        page.goto("/flows/00000000-0000-7000-8000-00000000dead")
        expect(page.get_by_role("link", name="Go to your flows").last).to_be_visible()
        expect(page.get_by_role("heading", name="Page not found")).to_be_visible()


class TestSwedish:
    def test_names_of_places_stand_whole(self, browser: Browser, studio: Studio, console: Console) -> None:
        with open_page(browser, studio.url, console, locale="sv-SE") as page:
            page.goto("/settings")
            places = page.get_by_role("navigation").get_by_role("link").locator("span.truncate")
            expect(places.filter(has_text="Inställningar")).to_be_visible()
            page.evaluate("document.fonts.ready")
            cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
            assert places.evaluate_all(cut) == []
        console.check()

    def test_the_view_that_is_shown_stands_in_the_bar_of_a_narrow_screen(
        self, browser: Browser, studio: Studio, console: Console
    ) -> None:
        flow = studio.flow(SPEC.format(name="Smalt"))
        with open_page(browser, studio.url, console, narrow=True, locale="sv-SE") as page:
            page.goto(f"/flows/{flow}/publish")
            views = page.get_by_role("navigation", name="Flödets vyer")
            expect(views.get_by_role("link", name="Publicera")).to_be_in_viewport(ratio=0.95)
            views.get_by_role("link", name="Översikt").click()
            expect(views.get_by_role("link", name="Översikt")).to_be_in_viewport(ratio=0.95)
            expect(page.get_by_role("button", name="Anpassa till fönstret")).to_be_visible()
        console.check()

    def test_components_are_called_by_the_name_of_the_language_in_use(
        self, browser: Browser, studio: Studio, console: Console
    ) -> None:
        flow = studio.flow(SPEC.format(name="Språk"))
        with open_page(browser, studio.url, console, locale="sv-SE") as page:
            page.goto(f"/flows/{flow}")
            node = page.locator(".react-flow__node").filter(has_text="Textindata")
            expect(node).to_be_visible()
            palette = page.get_by_role("region", name="Komponenter")
            find = palette.get_by_role("searchbox")
            for words in ("reguljärt", "Regular expression"):
                find.fill(words)
                expect(palette.get_by_text("Reguljärt uttryck")).to_be_visible()
            page.get_by_role("button", name=re.compile("^Konto: ")).click()
            page.get_by_role("menuitem", name=re.compile("English")).click()
            expect(page.locator(".react-flow__node").filter(has_text="Text input")).to_be_visible()
            expect(node).to_be_hidden()
            page.goto("/templates")
            expect(page.get_by_text("Licence report").first).to_be_visible()
        console.check()


class TestNarrowNavigation:
    def test_marks_the_sheet_and_the_place_of_an_address_that_belongs_to_it(self, page: Page) -> None:
        page.set_viewport_size({"width": 390, "height": 844})
        arrive(page, "/queue")
        more = page.get_by_role("button", name="More", exact=True)
        expect(more).to_have_attribute("data-status", "active")
        more.click()
        observe = page.get_by_role("dialog", name="More").get_by_role("link", name="Observe")
        expect(observe).to_have_attribute("data-status", "active")
        expect(page.get_by_role("dialog", name="More").get_by_role("link", name="Triggers")).not_to_have_attribute(
            "data-status", "active"
        )
