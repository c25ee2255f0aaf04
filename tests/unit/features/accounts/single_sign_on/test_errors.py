"""What goes wrong is said on the sign-in page, in every language it speaks."""

import re
from pathlib import Path

from headgate.features.accounts.single_sign_on import errors
from headgate.foundation.errors import HeadgateError

NEVER_ON_THE_PAGE = {"sso_off", "sso_extra_missing", "sso_not_linked"}
"""Told to programs and admins."""
SAID_IN_GENERAL = {"sso_not_admitted", "sso_tenant"}
"""The general text does: the first is only what the others are kinds of, the second is for the operator alone."""
ROOT = Path(__file__).parents[5]
DOCS = ROOT / "docs/operate/single-sign-on.md"
TEXTS = ROOT / "web" / "src" / "features" / "account" / "texts"


def codes() -> set[str]:
    found = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, HeadgateError)]
    return {one.code for one in found if one.__module__ == errors.__name__}


class TestCodes:
    def test_are_said_on_the_sign_in_page(self) -> None:
        for language in ("en", "sv"):
            said = set(re.findall(r"error_(sso_\w+):", (TEXTS / f"{language}.ts").read_text(encoding="utf-8")))
            assert said == codes() - NEVER_ON_THE_PAGE - SAID_IN_GENERAL

    def test_are_explained_in_the_docs(self) -> None:
        explained = set(re.findall(r"`(sso_\w+)`", DOCS.read_text(encoding="utf-8")))
        assert explained == codes() - NEVER_ON_THE_PAGE - {"sso_not_admitted"}
