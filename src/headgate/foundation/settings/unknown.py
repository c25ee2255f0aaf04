"""Variables that look like settings and are none, such as a setting with a typo."""

import os
from difflib import get_close_matches

from dotenv import dotenv_values

from headgate.foundation.settings.page import PREFIX, known_variables

NO_SETTING = "is not a Headgate setting and is ignored"


def unknown_variables() -> list[tuple[str, str]]:
    """Return the names of such variables of the environment and of `.env`, each with a remedy."""
    known = known_variables()
    given = {name.upper() for name in (*os.environ, *dotenv_values(".env"))}
    return [(name, _remedy(name, known)) for name in sorted(given - known) if name.startswith(PREFIX)]


def _remedy(name: str, known: set[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"Did you mean {close[0]}?" if close else "See docs/reference/settings.md."
