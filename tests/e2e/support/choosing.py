"""Choosing in a list."""

from playwright.sync_api import Locator, expect


def choose(box: Locator, option: str, *, exact: bool = True) -> None:
    """Open the list and take an option from the keyboard.

    A browser that is very busy takes a mouse let go within a frame of the list's opening for the end of the click that
    opened it, as nobody's hand is that quick.
    """
    box.click()
    found = box.page.get_by_role("option", name=option, exact=exact)
    found.press("Enter")
    expect(found).to_be_hidden()
