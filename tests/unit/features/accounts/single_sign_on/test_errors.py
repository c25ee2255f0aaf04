"""What goes wrong is said on the sign-in page, in every language it speaks."""

import re
from pathlib import Path

from headgate.entrypoints.http.pages import texts
from headgate.features.accounts.single_sign_on import errors
from headgate.foundation.errors import HeadgateError

NEVER_ON_THE_PAGE = {"sso_off", "sso_extra_missing", "sso_not_linked"}
"""Told to programs and admins."""
SAID_IN_GENERAL = {"sso_not_admitted", "sso_tenant"}
"""The general text does: the first is only what the others are kinds of, the second is for the operator alone."""
DOCS = Path(__file__).parents[5] / "docs" / "single-sign-on.md"


def codes() -> set[str]:
    found = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, HeadgateError)]
    return {one.code for one in found if one.__module__ == errors.__name__}


class TestCodes:
    def test_are_said_on_the_sign_in_page(self) -> None:
        said = {name.removeprefix("error_") for name in texts.ENGLISH if name.startswith("error_sso_")}
        assert said == codes() - NEVER_ON_THE_PAGE - SAID_IN_GENERAL
        page = (Path(texts.__file__).parent / "sign-in.html").read_text(encoding="utf-8")
        assert set(re.findall(r'data-(sso_\w+)="\$error_\1"', page)) == said

    def test_are_explained_in_the_docs(self) -> None:
        explained = set(re.findall(r"`(sso_\w+)`", DOCS.read_text(encoding="utf-8")))
        assert explained == codes() - NEVER_ON_THE_PAGE - {"sso_not_admitted"}
